#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "error/result.hpp"

namespace kumiki::fabric {

/// The thread that serves the network while the program computes, in the role of the papers' network interface
/// processor. It sleeps until a message arrives. As long as the program's threads poll the network themselves, the
/// agent leaves that to them and naps: it only checks now and then whether they still poll. While one of them sleeps, a
/// core is free, so the agent stays awake for a while after each message, because the next one often follows at once.
///
/// A napping agent does not notice messages; when the program computes again, a message waits for the end of the nap,
/// so naps are short. Only within one long wait are naps long, so that they take no core from a computing thread. The
/// waiting thread then wakes the agent at the end of its wait, at a cost that is negligible compared with the wait.
class Agent {
public:
    struct Duties {
        std::function<bool()> receive; ///< returns whether there was anything to receive
        std::function<bool()> arm;     ///< lets `descriptor` signal the next message; false: one is there already
        std::function<void()> tick;    ///< now and then
        std::function<void()> release; ///< called a millisecond after remind()
        int descriptor = -1;
        std::chrono::milliseconds period{}; ///< between two calls of tick
        std::chrono::nanoseconds linger{};  ///< time awake after a message, while a program thread sleeps
    };

    Agent() = default;
    ~Agent() { stop(); }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    Result<> start(Duties duties);
    void stop();

    /// A thread of the program has polled, and will poll again.
    void relieve() {
        if (!relieved_.load(std::memory_order_relaxed)) relieved_.store(true, std::memory_order_relaxed);
    }
    /// A thread of the program begins a wait in which it polls repeatedly.
    void begin_wait() {
        waits_begun_.fetch_add(1, std::memory_order_relaxed);
        waits_.fetch_add(1);
    }
    /// That wait has ended. All these accesses have a single total order (sequential consistency), so either this call
    /// sees the agent's long nap, or the agent sees before its nap that no thread waits.
    void end_wait() {
        waits_.fetch_sub(1);
        if (naps_long_.load()) wake();
    }
    /// A thread of the program goes to sleep and stops polling.
    void take_over();
    /// A message is held back that must leave soon, even if the program does not release it itself.
    void remind();
    /// There is work that the descriptor does not signal.
    void wake();
    /// A thread that called take_over() is awake again.
    void step_back() { sleepers_.fetch_sub(1, std::memory_order_relaxed); }

private:
    void serve();
    void nap();
    void sleep(int descriptor, std::chrono::nanoseconds at_most);

    Duties duties_;
    std::atomic<bool> relieved_{false};
    std::atomic<bool> reminded_{false};
    std::atomic<bool> naps_{false};
    std::atomic<bool> naps_long_{false};
    std::atomic<int> waits_{0}; ///< threads of the program between begin_wait() and end_wait()
    std::atomic<std::uint64_t> waits_begun_{0};
    std::uint64_t wait_seen_ = 0;  ///< waits_begun_ at the agent's last nap
    int naps_in_wait_ = 0;         ///< naps since the latest wait began
    std::atomic<int> sleepers_{0}; ///< threads of the program between take_over() and step_back()
    std::atomic<bool> stop_{false};
    int wake_ = -1; ///< an eventfd
    std::thread thread_;
};

} // namespace kumiki::fabric
