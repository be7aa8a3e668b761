#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "wait/meeting.hpp"
#include "wait/wait.hpp"

namespace kumiki::wait {

/// A reusable barrier for the threads of a process (COMPaS paper, Fig. 2, made reusable and with the waiting policy in place of the bare spin).
class ThreadBarrier {
public:
    ThreadBarrier(int threads, const Patience& patience) : patience_(patience), places_(static_cast<std::size_t>(threads)) {}

    /// Called by every thread 0 .. threads - 1. False when the barrier is broken and not all will come.
    bool arrive_and_wait(int thread);

    /// Frees all who wait, now and later, until mend().
    void break_up();
    /// Makes the barrier whole again; no thread may be in it.
    void mend();

private:
    /// What a thread has in the barrier: the flags that others raise for it, and how often it has passed.
    struct Place {
        std::array<Flag, most_rounds> flags{};
        alignas(platform::apart) std::uint64_t epoch = 0;
    };

    void disseminate(int thread);
    void count();
    bool broken() const { return broken_.load(std::memory_order_relaxed); }

    Patience patience_;
    std::vector<Place> places_;
    Gate gate_{};
    Bell bell_{};
    std::atomic<bool> broken_{false};
};

} // namespace kumiki::wait
