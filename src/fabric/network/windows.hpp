#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/network/transport.hpp"

namespace kumiki::fabric {

/// The regions of other ranks that the network itself can write and read, each known by the key of its owner. Only
/// may() and rule_out() are thread-safe.
class Windows {
public:
    struct Window {
        std::shared_ptr<Transport::Window> there; ///< null: messages carry the data
        std::uint64_t address = 0;                ///< of the region's beginning, at its owner
    };

    explicit Windows(int ranks) : ruled_out_(static_cast<std::size_t>(ranks)) {}

    /// Whether nothing is known yet that prevents direct transfers with this rank. A look without a lock, because every
    /// long put and every get begins with it.
    bool may(int rank, Transport::Direction direction) const {
        return !ruled_out(rank, direction).load(std::memory_order_relaxed);
    }
    void rule_out(int rank, Transport::Direction direction) {
        ruled_out_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(direction)].store(
            true, std::memory_order_relaxed);
    }

    /// Returns null when the owner has not been asked for the key of the region that begins at `begin`.
    const Window* find(int rank, std::size_t begin) const {
        const auto found = windows_.find({begin, rank});
        return found == windows_.end() ? nullptr : &found->second;
    }
    void add(int rank, std::size_t begin, Window window) {
        windows_.insert_or_assign({begin, rank}, std::move(window));
    }
    /// Forgets this region of all ranks.
    void drop(std::size_t begin) {
        const auto first = windows_.lower_bound({begin, 0});
        windows_.erase(first, windows_.lower_bound({begin + 1, 0}));
    }
    /// Forgets all regions. Must be called before the transport that has opened them ends.
    void clear() { windows_.clear(); }

private:
    const std::atomic<bool>& ruled_out(int rank, Transport::Direction direction) const {
        return ruled_out_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(direction)];
    }

    std::vector<std::array<std::atomic<bool>, 2>> ruled_out_; ///< by rank and direction
    std::map<std::pair<std::size_t, int>, Window> windows_;   ///< by the region's beginning and rank
};

/// A transfer that the network carries out itself.
struct DirectTransfer {
    enum class State : std::uint8_t { under_way, complete, failed };
    int rank;
    Transport::Direction direction;
    std::uint64_t offset; ///< in the arenas
    std::span<std::byte> here;
    std::atomic<bool>* done = nullptr; ///< of a non-blocking transfer, for which no thread need wait
    std::atomic<State> state{State::under_way};
};

} // namespace kumiki::fabric
