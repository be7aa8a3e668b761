#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "platform/memory.hpp"

/// The channel for two-sided messages from one rank of a host to another (or to itself): a ring of cells with one
/// writer and one reader, and an area into which the writer may place fragments without the reader's help (the reserved
/// region of the Maestro paper, 2.3). The users of this header ensure that one thread at a time claims cells and slots
/// and one reads cells; each thread fills and publishes what it has claimed without a lock, so cells may be published
/// in any order.
///
/// Only `Cell::lap` publishes data from the writer to the reader, and only `taken` and `returned` hand room back: each
/// is stored with release and loaded with acquire order.
namespace kumiki::fabric::shm {

/// The contents of one cache line; they include the whole of a small message. One that is a little longer continues in
/// the next cell, all of whose content is payload.
struct CellContent {
    static constexpr std::size_t capacity = 48, more = 60;
    std::uint8_t kind;   ///< message::Near::Kind
    std::uint8_t slot;   ///< slot of the area, if the data are there
    std::uint16_t bytes; ///< of the data, here or in the slot
    std::int32_t tag;
    std::uint32_t spare;
    std::array<std::byte, capacity> payload;

    /// The payload as a value of a simple type.
    template <class T>
    void put(const T& value) {
        static_assert(sizeof(T) <= capacity);
        std::memcpy(payload.data(), &value, sizeof(T));
    }
    template <class T>
    T get() const {
        T value;
        std::memcpy(&value, payload.data(), sizeof(T));
        return value;
    }
};

struct alignas(platform::cache_line) Cell {
    std::atomic<std::uint32_t> lap; ///< the last lap in which the cell was filled, from 1
    CellContent content;
};
static_assert(sizeof(Cell) == platform::cache_line && sizeof(CellContent) == CellContent::more);

/// Starts as zeros; only pages that are touched use memory.
struct alignas(platform::smallest_page) Channel {
    static constexpr std::size_t cells = 256;
    static constexpr std::size_t slots = 28, slot_bytes = std::size_t{8} << 10;
    /// Slots of their own for shorter data: a flood of them then touches few pages, and the lines of different slots
    /// are not all in the same set of the nearest cache.
    static constexpr std::size_t short_slots = 32, short_slot_bytes = std::size_t{1} << 10;

    alignas(platform::apart) std::atomic<std::uint64_t> taken; ///< cells that the reader has emptied
    std::atomic<std::uint64_t> settled;                        ///< small messages that have been matched with a receive
    alignas(platform::apart) std::atomic<std::uint64_t> returned; ///< SlotSet of those that the reader returns
    alignas(platform::smallest_page) std::array<Cell, cells> cell;
    alignas(platform::smallest_page) std::array<std::array<std::byte, short_slot_bytes>, short_slots> short_area;
    alignas(platform::smallest_page) std::array<std::array<std::byte, slot_bytes>, slots> area;

    std::byte* slot(int number) {
        const auto index = static_cast<std::size_t>(number);
        return index < short_slots ? short_area[index].data() : area[index - short_slots].data();
    }
};

/// A set of slots: bit n is slot n, and the short ones come first.
using SlotSet = std::uint64_t;
inline constexpr SlotSet short_slots = (SlotSet{1} << Channel::short_slots) - 1;
inline constexpr SlotSet long_slots = ((SlotSet{1} << Channel::slots) - 1) << Channel::short_slots;

/// The writer's end.
class ChannelWriter {
public:
    explicit ChannelWriter(Channel& channel) : channel_(&channel) {}

    /// Whether two cells are free.
    bool has_room() {
        if (next_ - taken_ + 2 <= Channel::cells) return true;
        taken_ = channel_->taken.load(std::memory_order_acquire);
        return next_ - taken_ + 2 <= Channel::cells;
    }
    /// Valid when has_room(): takes the next cell or the next two, in the order in which the reader will see them.
    std::uint64_t claim(int count = 1) {
        const std::uint64_t first = next_;
        next_ += static_cast<std::uint64_t>(count);
        return first;
    }
    /// Returns one of the slots of a set, or -1 when none is free.
    int take_slot(SlotSet wanted) {
        if ((free_slots_ & wanted) == 0) {
            collect_slots();
            if ((free_slots_ & wanted) == 0) return -1;
        }
        const int slot = std::countr_zero(free_slots_ & wanted);
        free_slots_ &= ~(SlotSet{1} << slot);
        return slot;
    }
    int slots_in_use() {
        collect_slots();
        return std::popcount((short_slots | long_slots) & ~free_slots_);
    }

    // Any thread may call these with what it has claimed.

    CellContent& content(std::uint64_t cell) { return channel_->cell[cell % Channel::cells].content; }
    /// The `more` bytes of the cell after this one.
    std::byte* rest(std::uint64_t cell) { return reinterpret_cast<std::byte*>(&content(cell + 1)); }
    void publish(std::uint64_t cell) {
        channel_->cell[cell % Channel::cells].lap.store(static_cast<std::uint32_t>(cell / Channel::cells + 1),
                                                        std::memory_order_release);
    }
    std::byte* slot(int number) { return channel_->slot(number); }

    std::uint64_t settled() const { return channel_->settled.load(std::memory_order_relaxed); }

private:
    /// The reader's reads of a slot come before the writer's next write to it: the reader returns it with release
    /// order, which this acquires.
    void collect_slots() { free_slots_ |= channel_->returned.exchange(0, std::memory_order_acquire); }

    Channel* channel_;
    std::uint64_t next_ = 0, taken_ = 0; ///< taken_: as last seen
    SlotSet free_slots_ = short_slots | long_slots;
};

/// The reader's end. Any thread may call has_arrived(); one thread at a time may call the other functions.
class ChannelReader {
public:
    explicit ChannelReader(Channel& channel) : channel_(&channel) {}

    bool has_arrived() const {
        const std::uint64_t next = next_.load(std::memory_order_relaxed);
        return channel_->cell[next % Channel::cells].lap.load(std::memory_order_acquire) ==
               static_cast<std::uint32_t>(next / Channel::cells + 1);
    }
    /// Valid when has_arrived(): next() is the oldest cell, and pass(count) continues after the cell or
    /// both cells of its message.
    const CellContent& next() const {
        return channel_->cell[next_.load(std::memory_order_relaxed) % Channel::cells].content;
    }
    /// The bytes of the cell after that one, where its message has two cells.
    const std::byte* rest() const {
        const std::uint64_t second = next_.load(std::memory_order_relaxed) + 1;
        return reinterpret_cast<const std::byte*>(&channel_->cell[second % Channel::cells].content);
    }
    void pass(int count) {
        next_.store(next_.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(count),
                    std::memory_order_relaxed);
    }
    /// Starts to bring as many later cells out of the writer's cache as have been passed. This is for a reader that is
    /// slower than the writer: fetched before it is written, a cell would have to be fetched again.
    void prefetch(int count) const {
        for (std::uint64_t cell = next_.load(std::memory_order_relaxed) + cells_prefetched; count > 0; --count, ++cell)
            __builtin_prefetch(&channel_->cell[cell % Channel::cells]);
    }
    /// Counts a small message that has been matched with a receive.
    void settle() { ++settled_; }
    /// Tells the writer what has been passed and settled. This is done once for many cells, because
    /// the writer's cache may have the line of these counts: the writer reads them when it has no room.
    void release() {
        channel_->settled.store(settled_, std::memory_order_relaxed);
        channel_->taken.store(next_.load(std::memory_order_relaxed), std::memory_order_release);
    }

    const std::byte* slot(int number) const { return channel_->slot(number); }
    void return_slot(int number) { channel_->returned.fetch_or(SlotSet{1} << number, std::memory_order_release); }

private:
    /// A cell comes out of the writer's cache in the time in which the reader empties a few others. Of 2 to 32, this
    /// distance gave the highest rate of messages.
    static constexpr std::uint64_t cells_prefetched = 12;

    Channel* channel_;
    std::atomic<std::uint64_t> next_{0};
    std::uint64_t settled_ = 0;
};

} // namespace kumiki::fabric::shm
