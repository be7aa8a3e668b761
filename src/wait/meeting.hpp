#pragma once

#include <atomic>
#include <cstdint>

#include "platform/memory.hpp"

/// The two barrier algorithms, for parties that are threads of a rank or ranks of a host.
namespace kumiki::wait {

/// A word that one party writes and another one spins on; it has cache lines of its own.
struct alignas(platform::apart) Flag {
    std::atomic<std::uint64_t> value;
};

inline constexpr int most_rounds = 16; ///< of disseminate(), enough for 2^16 parties

/// Dissemination: in round k party i signals to party i + 2^k that it has arrived, and waits for the signal of party i
/// - 2^k; after log2(parties) rounds each party knows that all have arrived. It is fastest if every party has a core,
/// because no line has more than one writer and one reader. With two parties this is a plain exchange of two flags. If
/// await() gives up (false), so does the party: it does not know that all have arrived, and must not signal this to
/// others.
template <class Tell, class Await>
bool disseminate(int me, int parties, Tell tell, Await await) {
    int round = 0;
    for (int distance = 1; distance < parties; distance *= 2, ++round) {
        tell((me + distance) % parties, round);
        if (!await(round)) return false;
    }
    return true;
}

/// Counting: the last party to arrive opens the gate for all. It is fastest if parties share cores, because each has to
/// run only once to arrive; and only this algorithm needs no action of a party between arriving and leaving (the
/// split-phase barrier). Memory of zeros is a closed gate.
struct Gate {
    Flag arrived;
    Flag epoch;

    /// Returns the epoch to await; calls open() after opening the gate if this was the last of `parties`.
    template <class Open>
    std::uint64_t arrive(int parties, Open open) {
        // The epoch cannot change before this party has arrived, so a relaxed load finds it.
        const std::uint64_t next = epoch.value.load(std::memory_order_relaxed) + 1;
        // acq_rel: the last party to arrive sees everything that the others did before, and passes it on by the release
        // below.
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
