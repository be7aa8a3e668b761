#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "error/result.hpp"
#include "platform/waker.hpp"

namespace kumiki::fabric {

/// The thread that serves the network while the program computes, in the role of the papers' network interface
/// processor. It sleeps until a message arrives. As long as the program's threads poll the network themselves, the
/// agent leaves that to them and naps: it checks only once in a millisecond whether they still poll. While one of them
/// sleeps, a core is free, so the agent stays awake for a while after each message, because the next one often follows
/// at once.
///
/// A napping agent does not notice messages, so a message to a program that has just returned to its computation would
/// wait for the end of the nap. A wake-up at the end of every wait would double the latency of programs that only
/// communicate. Therefore a wait that ends wakes the agent only if the program computed for a while before that wait:
/// then it will probably compute again.
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
    bool is_running() const { return thread_.joinable(); }

    /// A thread of the program has polled, and will poll again.
    void relieve() {
        if (!relieved_.load(std::memory_order_relaxed)) relieved_.store(true, std::memory_order_relaxed);
    }
    /// A thread of the program begins a wait in which it polls repeatedly, and has ended it.
    void begin_wait();
    void end_wait();
    /// A thread of the program goes to sleep and stops polling.
    void take_over();
    /// A message is held back that must leave soon, even if the program does not release it itself.
    void remind();
    /// There is work that the descriptor does not signal.
    void wake() { waker_.wake(); }
    /// A thread that called take_over() is awake again.
    void step_back() { sleepers_.fetch_sub(1, std::memory_order_relaxed); }

private:
    void serve();
    bool nap();

    Duties duties_;
    std::atomic<bool> relieved_{false};
    std::atomic<bool> reminded_{false};
    std::atomic<bool> naps_{false};
    std::atomic<int> waits_{0};          ///< threads of the program between begin_wait() and end_wait()
    std::atomic<bool> computes_{false};  ///< the program computed for a while before its latest wait
    std::atomic<std::int64_t> ended_{0}; ///< when the latest wait ended, in ns of the steady clock
    std::atomic<int> sleepers_{0};       ///< threads of the program between take_over() and step_back()
    std::atomic<bool> stop_{false};
    platform::Waker waker_;
    std::thread thread_;
};

} // namespace kumiki::fabric
