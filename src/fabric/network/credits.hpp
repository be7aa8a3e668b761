#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace kumiki::fabric {

/// How many active messages may be under way to each rank. What its inbox has no room for waits in its memory, and must
/// not grow without a limit when its handlers are slow: so the receiving side gives back credit for what it has taken
/// (the Maestro paper's reserved areas return so, 2.2).
class Credits {
public:
    static constexpr std::uint64_t window = 256;

    explicit Credits(int ranks) : to_(static_cast<std::size_t>(ranks)), from_(static_cast<std::size_t>(ranks)) {}

    /// One more to that rank; false when it has to wait. Threads that ask at the same moment may take one too many
    /// each.
    bool take(int rank) {
        Sent& to = to_[static_cast<std::size_t>(rank)];
        if (to.sent.load(std::memory_order_relaxed) - to.taken.load(std::memory_order_relaxed) >= window) return false;
        to.sent.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    /// That rank says that it has taken so many in all. False: it cannot have. Not thread-safe.
    bool give_back(int rank, std::uint64_t taken) {
        Sent& to = to_[static_cast<std::size_t>(rank)];
        if (taken < to.taken.load(std::memory_order_relaxed) || taken > to.sent.load(std::memory_order_relaxed))
            return false;
        to.taken.store(taken, std::memory_order_relaxed);
        return true;
    }

    /// One more of that rank has found its place; how many have, when it is time to say so. Not thread-safe.
    std::optional<std::uint64_t> taken(int source) {
        const std::uint64_t count = ++from_[static_cast<std::size_t>(source)];
        return count % (window / 4) == 0 ? std::optional(count) : std::nullopt;
    }

private:
    struct Sent {
        std::atomic<std::uint64_t> sent{0}, taken{0};
    };
    std::vector<Sent> to_;            ///< by rank
    std::vector<std::uint64_t> from_; ///< by rank
};

} // namespace kumiki::fabric
