#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "message/near.hpp"
#include "platform/held_locks.hpp"

namespace kumiki::message {

/// Data that have arrived: they are in `here`, or in a slot of the area.
struct Near::Arrived {
    Request* receive;
    Peer* from;
    std::uint64_t at;    ///< where they go in the memory of the receive
    std::uint16_t bytes; ///< of the data
    std::int16_t slot;   ///< Place::in_cell: none
    bool fragment;       ///< of a longer message
    std::array<std::byte, most_in_cells> here;
};

/// A fragment that is to be put into a slot.
struct Near::Leaving {
    Request* send;
    Peer* to;
    std::uint64_t at;
    std::uint16_t bytes;
    std::int16_t slot;
};

/// The copies that a thread has taken on under the table's lock and makes after it has released it (the lock rule,
/// platform/held_locks.hpp). Until they are made, nobody else knows of them: the receives are in no list, and the slots
/// belong to this thread.
class Near::Copies {
public:
    bool arrived_full() const { return arrived_count_ == most; }
    bool leaving_full() const { return leaving_count_ == most; }
    Arrived& add_arrived() { return arrived_[arrived_count_++]; }
    Leaving& add_leaving() { return leaving_[leaving_count_++]; }

    /// Messages of the reserve that are complete and have a receive.
    List<Arrival> reserved;

    bool has_rare() const { return leaving_count_ != 0 || !reserved.empty(); }
    std::span<const Arrived> arrived() const { return std::span(arrived_).first(arrived_count_); }
    std::span<const Leaving> leaving() const { return std::span(leaving_).first(leaving_count_); }

private:
    static constexpr std::size_t most = 16;

    // Left without values: a thread fills only what it uses, and it looks often.
    std::array<Arrived, most> arrived_;
    std::array<Leaving, most> leaving_;
    std::size_t arrived_count_ = 0, leaving_count_ = 0;
};

/// Assigns a whole message to a receive. One that is too long is not stored.
inline void Near::address(Arrived& arrived, Request& receive, Peer& from, int tag, std::size_t bytes) {
    const bool fits = RequestTable::address(receive, from.rank, tag, bytes);
    arrived.receive = &receive;
    arrived.from = &from;
    arrived.at = 0;
    arrived.bytes = static_cast<std::uint16_t>(fits ? bytes : 0);
    arrived.fragment = false;
}

/// Copies data that have arrived into the memory of their receive.
inline void Near::store(const Arrived& arrived) {
    platform::expect_no_lock("a message is stored");
    Request& receive = *arrived.receive;
    if (arrived.slot == Place::in_cell) {
        RequestTable::copy_short(receive.data, arrived.here.data(), arrived.bytes);
        return table_.complete(receive);
    }
    if (arrived.bytes > 0)
        table_.fabric.memory().copy(receive.data + arrived.at, arrived.from->from.slot(arrived.slot), arrived.bytes);
    arrived.from->from.return_slot(arrived.slot);
    table_.fabric.progress().ring(arrived.from->rank); // the sender may wait for the slot
    if (arrived.fragment) count_copied(receive, arrived.bytes);
    else table_.complete(receive);
}

} // namespace kumiki::message
