#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumiki::fabric {

/// Which ranks may still have to store data that this rank has put by messages. Thread-safe. A thread sees its own
/// puts, and a flush that it has waited for, in their order, for which relaxed memory order suffices.
class DataOnTheWay {
public:
    explicit DataOnTheWay(int ranks) : to_(static_cast<std::size_t>(ranks)) {}

    bool to(int rank) const {
        const Counts& counts = of(rank);
        return counts.stored.load(std::memory_order_relaxed) != counts.sent.load(std::memory_order_relaxed);
    }
    /// Called after a put has been sent.
    void sent(int rank) { of(rank).sent.fetch_add(1, std::memory_order_relaxed); }

    /// The puts so far; called before a flush is sent, which covers these.
    std::uint64_t before_flush(int rank) const { return of(rank).sent.load(std::memory_order_relaxed); }
    /// That flush has been answered. Flushes of several threads may end in any order.
    void flushed(int rank, std::uint64_t puts) {
        std::atomic<std::uint64_t>& stored = of(rank).stored;
        std::uint64_t known = stored.load(std::memory_order_relaxed);
        while (known < puts && !stored.compare_exchange_weak(known, puts, std::memory_order_relaxed)) {}
    }

private:
    struct Counts {
        std::atomic<std::uint64_t> sent{0}, stored{0}; ///< puts
    };
    Counts& of(int rank) { return to_[static_cast<std::size_t>(rank)]; }
    const Counts& of(int rank) const { return to_[static_cast<std::size_t>(rank)]; }

    std::vector<Counts> to_; ///< by rank
};

} // namespace kumiki::fabric
