#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/network/burst.hpp"

namespace kumiki::fabric {

/// What is held back for each rank until something follows it there or a thread waits, and for which ranks that is:
/// whoever sends it all need not ask each of thousands. Not thread-safe, but for any().
class HeldBack {
public:
    explicit HeldBack(int ranks) : places_(static_cast<std::size_t>(ranks)) {}

    bool any() const { return any_.load(std::memory_order_relaxed); }
    bool has_room_for(int rank, std::size_t payload) const { return at(rank).burst.has_room_for(payload); }
    bool has(int rank) const { return !at(rank).burst.empty(); }
    /// One of those ranks; there is one.
    int first() const { return ranks_.back(); }

    /// There is room for it.
    void add(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
        Place& place = at(rank);
        if (place.burst.empty()) {
            place.index = ranks_.size();
            ranks_.push_back(rank);
            any_.store(true, std::memory_order_relaxed);
        }
        place.burst.add(header, payload);
    }
    /// There is something.
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

    std::vector<Place> places_; ///< by rank
    std::vector<int> ranks_;    ///< of which the burst is not empty, in no order
    std::atomic<bool> any_{false};
};

} // namespace kumiki::fabric
