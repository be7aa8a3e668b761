#pragma once

#include <atomic>
#include <cstdint>

#include "platform/memory.hpp"

/// The two ways in which parties (threads of a rank, or ranks of a host) meet at a barrier.
namespace kumiki::wait {

/// A word that one party writes and another one spins on has its cache lines to itself.
struct alignas(platform::apart) Flag {
    std::atomic<std::uint64_t> value;
};

inline constexpr int most_rounds = 16; ///< of disseminate(): 2^16 parties

/// Dissemination: in round k party i tells party i + 2^k that it has come and awaits the word of party i - 2^k; after
/// log2(parties) rounds each has heard of all. Fastest when every party has a core, for no line has more than one
/// writer and one reader. With two parties this is the bare exchange of two flags. When await() gives up (false) so
/// does the party: it has not heard of all and must not tell others so.
template <class Tell, class Await>
bool disseminate(int me, int parties, Tell tell, Await await) {
    int round = 0;
    for (int distance = 1; distance < parties; distance *= 2, ++round) {
        tell((me + distance) % parties, round);
        if (!await(round)) return false;
    }
    return true;
}

/// Counting: the last to arrive opens the gate for all. Fastest when parties share cores, for each has to run only once
/// to arrive, and the only way that needs nobody's help between arriving and leaving (the split-phase barrier). Zeros
/// are a closed gate.
struct Gate {
    Flag arrived;
    Flag epoch;

    /// Returns the epoch to await; calls open() after opening the gate if this was the last of `parties`.
    template <class Open>
    std::uint64_t arrive(int parties, Open open) {
        // The epoch cannot change before this party has arrived, so a relaxed load finds it.
        const std::uint64_t next = epoch.value.load(std::memory_order_relaxed) + 1;
        // acq_rel: the last to arrive has seen all that the others did before; it hands that on by the release below.
        if (arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint64_t>(parties)) {
            arrived.value.store(0, std::memory_order_relaxed);
            epoch.value.store(next, std::memory_order_release);
            open();
        }
        return next;
    }

    bool opened(std::uint64_t awaited) const { return epoch.value.load(std::memory_order_acquire) >= awaited; }
};

} // namespace kumiki::wait
