#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "wait/meeting.hpp"
#include "wait/wait.hpp"

namespace kumiki::wait {

/// A reusable barrier for the threads of a process (COMPaS paper, Fig. 2, made reusable and with the waiting policy in
/// place of the bare spin).
class ThreadBarrier {
public:
    ThreadBarrier(int threads, const Patience& patience)
        : patience_(patience), places_(static_cast<std::size_t>(threads)) {}

    /// Called by every thread 0 .. threads - 1. Returns false when not all will come, because one of them has left the
    /// barrier broken.
    bool arrive_and_wait(int thread);

    /// Says that `thread` will not come any more: threads that wait for it, now or later, are freed, until mend().
    /// Barriers to which it has come before still hold.
    void break_up(int thread);
    /// Makes the barrier whole again; no thread may be in it.
    void mend();

private:
    /// A thread's place in the barrier: the flags that others raise for it, and how often it has come.
    struct Place {
        std::array<Flag, most_rounds> flags{};
        alignas(platform::apart) std::uint64_t epoch = 0;
    };
    static constexpr std::uint64_t whole = ~std::uint64_t{0};

    bool disseminate(int thread, std::uint64_t epoch);
    bool count(std::uint64_t epoch);
    Place& place(int thread) { return places_[static_cast<std::size_t>(thread)]; }
    /// Whether a thread has left that did not come to barrier number `epoch`.
    bool is_lost(std::uint64_t epoch) const { return epoch > last_.load(std::memory_order_relaxed); }

    Patience patience_;
    std::vector<Place> places_;
    Gate gate_{};
    Bell bell_{};
    std::atomic<std::uint64_t> last_{whole}; ///< the last barrier to which all have come
};

} // namespace kumiki::wait
