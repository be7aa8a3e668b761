#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "error/result.hpp"

namespace kumiki::fabric {

/// The thread that serves the network while the program computes: the network interface processor of the papers. It
/// sleeps until a message comes. As long as the program's threads look for messages themselves it leaves that to them,
/// and only asks once in a millisecond whether they still do. While one of them sleeps, its core is free, and the agent
/// stays awake for a while after each message: the next one often follows at once.
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
    void sleep(int descriptor, std::chrono::milliseconds at_most);

    Duties duties_;
    std::atomic<bool> relieved_{false};
    std::atomic<bool> reminded_{false};
    std::atomic<bool> naps_{false}; ///< it sleeps, and not for long
    std::atomic<int> sleepers_{0};  ///< threads of the program between take_over() and step_back()
    std::atomic<bool> stop_{false};
    int wake_ = -1; ///< an eventfd
    std::thread thread_;
};

} // namespace kumiki::fabric
