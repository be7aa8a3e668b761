#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "wait/meeting.hpp"
#include "wait/wait.hpp"

namespace kumiki::wait {

/// A reusable barrier for the threads of a process (COMPaS paper, Fig. 2, made reusable, and with the waiting policy
/// instead of spinning only).
class ThreadBarrier {
public:
    ThreadBarrier(int threads, const Patience& patience)
        : patience_(patience), places_(static_cast<std::size_t>(threads)) {}

    /// Called by every thread 0 .. threads - 1. Returns false if not all will arrive, because one of them has left and
    /// thereby broken the barrier.
    bool arrive_and_wait(int thread);

    /// Declares that `thread` will not arrive any more: threads that wait for it, now or later, are released, until
    /// mend() is called. Barriers at which it has already arrived still complete.
    void break_up(int thread);
    /// Repairs the barrier; no thread may be in it.
    void mend();

private:
    /// A thread's state in the barrier: the flags that others raise for it, and how often it has arrived.
    struct Place {
        std::array<Flag, most_rounds> flags{};
        alignas(platform::apart) std::uint64_t epoch = 0;
    };
    static constexpr std::uint64_t whole = ~std::uint64_t{0};

    bool disseminate(int thread, std::uint64_t epoch);
    bool count(std::uint64_t epoch);
    Place& place(int thread) { return places_[static_cast<std::size_t>(thread)]; }
    /// Whether a thread that did not arrive at barrier number `epoch` has left.
    bool is_lost(std::uint64_t epoch) const { return epoch > last_.load(std::memory_order_relaxed); }

    Patience patience_;
    std::vector<Place> places_;
    Gate gate_{};
    Bell bell_{};
    std::atomic<std::uint64_t> last_{whole}; ///< the last barrier at which all have arrived
};

} // namespace kumiki::wait
