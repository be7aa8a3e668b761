#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "error/result.hpp"

namespace kumiki::fabric {

/// The thread that serves the network while the program computes: the network interface processor of the papers. It
/// sleeps until a message comes. As long as the program's threads look for messages themselves it leaves that to them,
/// and naps: it only asks now and then whether they still do. While one of them sleeps, its core is free, and the agent
/// stays awake for a while after each message: the next one often follows at once.
///
/// While it naps it is deaf, and when the program computes again, a message waits for the end of the nap: so a nap is
/// short. Only within one long wait are naps long, so that they take no core from a thread that computes; the thread
/// then wakes the agent at the end of its wait, which costs nothing against that wait.
class Agent {
public:
    struct Duties {
        std::function<bool()> receive; ///< whether there was anything
        std::function<bool()> arm;  ///< then `descriptor` is readable when a message comes; false: one is there already
        std::function<void()> tick; ///< now and then
        std::function<void()> release; ///< a millisecond after remind()
        int descriptor = -1;
        std::chrono::milliseconds period{}; ///< of tick
        std::chrono::nanoseconds linger{};  ///< after a message, while a thread of the program sleeps
    };

    Agent() = default;
    ~Agent() { stop(); }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    Result<> start(Duties duties);
    void stop();

    /// A thread of the program has looked, and will again.
    void relieve() {
        if (!relieved_.load(std::memory_order_relaxed)) relieved_.store(true, std::memory_order_relaxed);
    }
    /// A thread of the program begins a wait in which it looks again and again.
    void begin_wait() {
        waits_begun_.fetch_add(1, std::memory_order_relaxed);
        waits_.fetch_add(1);
    }
    /// That wait has ended. In the one order of all these accesses, either this sees the agent's long nap, or the agent
    /// sees before its nap that nobody waits.
    void end_wait() {
        waits_.fetch_sub(1);
        if (naps_long_.load()) wake();
    }
    /// A thread of the program falls asleep, and looks no more.
    void take_over();
    /// Something is held back that must leave soon, should the program not release it itself.
    void remind();
    /// There is something to do that its descriptor does not tell of.
    void wake();
    /// It is awake again.
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
    int naps_in_wait_ = 0;         ///< of the agent, since another wait began
    std::atomic<int> sleepers_{0}; ///< threads of the program between take_over() and step_back()
    std::atomic<bool> stop_{false};
    int wake_ = -1; ///< an eventfd
    std::thread thread_;
};

} // namespace kumiki::fabric
