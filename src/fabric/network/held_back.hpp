#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/network/burst.hpp"

namespace kumiki::fabric {

/// The messages that are held back for each rank until something follows them there or a thread waits. Keeps a list of
/// the ranks that have some, so that releasing everything need not visit thousands of ranks. Only any() is thread-safe.
class HeldBack {
public:
    explicit HeldBack(int ranks) : places_(static_cast<std::size_t>(ranks)) {}

    /// The most bytes of a burst. Called once, before anything is added.
    void set_room(std::size_t bytes) { room_ = bytes; }

    bool any() const { return any_.load(std::memory_order_relaxed); }
    bool has_room_for(int rank, std::size_t payload) const { return at(rank).burst.has_room_for(payload, room_); }
    bool has(int rank) const { return !at(rank).burst.empty(); }
    /// Returns a rank for which something is held back; any() must be true.
    int first() const { return ranks_.back(); }

    /// has_room_for() must be true.
    void add(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
        Place& place = at(rank);
        if (place.burst.empty()) {
            place.index = ranks_.size();
            ranks_.push_back(rank);
            any_.store(true, std::memory_order_relaxed);
        }
        place.burst.add(header, payload, room_);
    }
    /// Takes the messages held back for the rank; has() must be true.
    std::vector<std::byte> take(int rank) {
        Place& place = at(rank);
        const int last = ranks_.back();
        ranks_[place.index] = last;
        at(last).index = place.index;
        ranks_.pop_back();
        any_.store(!ranks_.empty(), std::memory_order_relaxed);
        return place.burst.take();
    }

private:
    struct Place {
        Burst burst;
        std::size_t index = 0; ///< in ranks_, unless the burst is empty
    };
    Place& at(int rank) { return places_[static_cast<std::size_t>(rank)]; }
    const Place& at(int rank) const { return places_[static_cast<std::size_t>(rank)]; }

    std::size_t room_ = 0;
    std::vector<Place> places_; ///< by rank
    std::vector<int> ranks_;    ///< the ranks whose burst is not empty, in no order
    std::atomic<bool> any_{false};
};

} // namespace kumiki::fabric
