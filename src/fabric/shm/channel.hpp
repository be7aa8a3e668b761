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
/// region of the Maestro paper, 2.3). The users of this header ensure that one thread at a time writes cells and one
/// reads them.
///
/// Only `Cell::lap` publishes data from the writer to the reader, and only `taken` and `returned` hand room back: each
/// is stored with release and loaded with acquire order.
namespace kumiki::fabric::shm {

/// The contents of one cache line; they include the whole of a small message.
struct CellContent {
    static constexpr std::size_t capacity = 48;
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
static_assert(sizeof(Cell) == platform::cache_line);

/// Starts as zeros; only pages that are touched use memory.
struct alignas(platform::smallest_page) Channel {
    static constexpr std::size_t cells = 64, slots = 16, slot_bytes = std::size_t{8} << 10;

    alignas(platform::apart) std::atomic<std::uint64_t> taken; ///< cells that the reader has emptied
    std::atomic<std::uint64_t> settled;                        ///< small messages that have been matched with a receive
    alignas(platform::apart) std::atomic<std::uint32_t> returned; ///< bit set of slots that the reader returns
    alignas(platform::smallest_page) std::array<Cell, cells> cell;
    alignas(platform::smallest_page) std::array<std::array<std::byte, slot_bytes>, slots> area;
};

/// The writer's end. Any thread may take slots and fill them; one thread at a time may call the other functions.
class ChannelWriter {
public:
    explicit ChannelWriter(Channel& channel) : channel_(&channel) {}

    bool has_room() {
        if (next_ - taken_ < Channel::cells) return true;
        taken_ = channel_->taken.load(std::memory_order_acquire);
        return next_ - taken_ < Channel::cells;
    }
    /// Valid when has_room(): next() is the cell to fill, and publish() releases it to the reader.
    CellContent& next() { return channel_->cell[next_ % Channel::cells].content; }
    void publish() {
        channel_->cell[next_ % Channel::cells].lap.store(static_cast<std::uint32_t>(next_ / Channel::cells + 1),
                                                         std::memory_order_release);
        ++next_;
    }

    /// Returns a slot of the area if more than `spared` are free, else -1. Only the thread that has taken a slot writes
    /// to it, until it has published it.
    ///
    /// The reader's reads of a slot come before the writer's next write to it: the reader returns it with release
    /// order, the thread that collects it acquires that and hands it on by a release, which the thread that takes it
    /// acquires.
    int take_slot(int spared) {
        std::uint32_t free = free_slots_.load(std::memory_order_relaxed);
        for (;;) {
            if (std::popcount(free) <= spared) {
                const std::uint32_t returned = channel_->returned.exchange(0, std::memory_order_acquire);
                if (returned == 0) return -1;
                free = free_slots_.fetch_or(returned, std::memory_order_release) | returned;
            } else if (free_slots_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                                         std::memory_order_relaxed)) {
                return std::countr_zero(free);
            }
        }
    }
    std::byte* slot(int number) { return channel_->area[static_cast<std::size_t>(number)].data(); }
    int slots_in_use() {
        const std::uint32_t returned = channel_->returned.exchange(0, std::memory_order_acquire);
        return static_cast<int>(Channel::slots) -
               std::popcount(free_slots_.fetch_or(returned, std::memory_order_release) | returned);
    }

    std::uint64_t settled() const { return channel_->settled.load(std::memory_order_relaxed); }

private:
    Channel* channel_;
    std::uint64_t next_ = 0, taken_ = 0; ///< taken_: as last seen
    std::atomic<std::uint32_t> free_slots_{(1U << Channel::slots) - 1};
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
    /// Valid when has_arrived(): next() is the oldest cell, and pass() returns it to the writer.
    const CellContent& next() const {
        return channel_->cell[next_.load(std::memory_order_relaxed) % Channel::cells].content;
    }
    void pass() {
        const std::uint64_t taken = next_.load(std::memory_order_relaxed) + 1;
        next_.store(taken, std::memory_order_relaxed);
        channel_->taken.store(taken, std::memory_order_release);
    }

    const std::byte* slot(int number) const { return channel_->area[static_cast<std::size_t>(number)].data(); }
    void return_slot(int number) { channel_->returned.fetch_or(1U << number, std::memory_order_release); }
    void settle() { channel_->settled.store(++settled_, std::memory_order_relaxed); }

private:
    Channel* channel_;
    std::atomic<std::uint64_t> next_{0};
    std::uint64_t settled_ = 0;
};

} // namespace kumiki::fabric::shm
