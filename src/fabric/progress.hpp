#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "fabric/host_memory.hpp"
#include "fabric/messenger.hpp"
#include "fabric/progress_hook.hpp"
#include "wait/wait.hpp"
#include "wait/wait_at_most.hpp"

namespace kumiki::fabric {

/// The operations that a waiting thread performs for the network, a layer above this one.
class NetworkPoll {
public:
    virtual ~NetworkPoll() = default;
    /// Sends the messages that are held back.
    virtual void release() = 0;
    /// Receives the messages that have arrived, for a thread that will poll again soon; returns whether there were any.
    virtual bool poll() = 0;
    /// Called when a thread begins and ends a wait in which it polls.
    virtual void begin_polling() = 0;
    virtual void end_polling() = 0;
    /// Called before a thread sleeps, so that the agent takes over, and when it is awake again.
    virtual void hand_over() = 0;
    virtual void take_back() = 0;
};

/// How the threads of a rank wait for other ranks. While they wait they receive from the network, run the handlers of
/// active messages, and call the progress hooks of the layers above.
class Progress {
public:
    /// The work that a thread does while it waits.
    enum class Attention {
        /// The network, active messages and progress hooks.
        everything,
        /// The network only: no function of the program and no hook runs. This is for short waits for an answer from
        /// another rank, also inside a fault handler, where the program may hold any of its own locks.
        network,
    };

    Progress(HostMemory& memory, Messenger& messenger, wait::Patience patience)
        : memory_(memory), messenger_(messenger), patience_(patience) {}

    /// Called once, before any thread waits, unless all ranks are on this host.
    void attach(NetworkPoll& network) { network_ = &network; }

    const wait::Patience& patience() const { return patience_; }
    bool crowded() const { return patience_.crowded; }
    ProgressHooks& hooks() { return hooks_; }

    /// Wakes the threads of rank `rank`. Call it after making a condition true for which they may wait.
    void ring(int rank) const { wait::ring(memory_.block(rank).bell, patience_); }
    void ring_on_host(int local) const { wait::ring(memory_.host_block(local).bell, patience_); }

    /// Waits until ready() returns true. ready() must read with acquire order what other ranks write.
    template <class Ready>
    void wait(Ready ready, Attention attention = Attention::everything) {
        wait(ready, [] {}, attention);
    }
    /// The same; calls doubt() once when the wait takes long.
    template <class Ready, class Doubt>
    void wait(Ready ready, Doubt doubt, Attention attention = Attention::everything);

    /// Waits until ready() returns true, or the time has passed, and receives from the network; returns whether it is
    /// ready. For a thread that looks again in any case: a ring may miss it while it sleeps (wait::wait_at_most).
    template <class Ready>
    bool wait_at_most(std::chrono::nanoseconds limit, Ready ready);

    /// Makes progress once for a program that does not wait: sends what is held back, receives, and runs the hooks.
    void look() {
        if (network_ != nullptr) {
            network_->release();
            network_->poll();
        }
        hooks_.run();
    }

private:
    class PollingWait {
    public:
        explicit PollingWait(NetworkPoll& network) : network_(network) { network_.begin_polling(); }
        ~PollingWait() { network_.end_polling(); }
        PollingWait(const PollingWait&) = delete;
        PollingWait& operator=(const PollingWait&) = delete;

    private:
        NetworkPoll& network_;
    };

    template <class Look, class Doubt>
    void wait_for_network(Look look, Doubt doubt);

    HostMemory& memory_;
    Messenger& messenger_;
    wait::Patience patience_;
    ProgressHooks hooks_;
    NetworkPoll* network_ = nullptr;
};

template <class Ready, class Doubt>
void Progress::wait(Ready ready, Doubt doubt, Attention attention) {
    if (ready()) return;
    const bool serves = attention == Attention::everything;
    const bool attends = serves && messenger_.active();
    std::optional<Messenger::Attendance> attendance;
    if (attends) attendance.emplace(messenger_);
    const auto look = [&] {
        if (ready()) return true;
        if (serves) hooks_.run();
        if (attends) messenger_.progress();
        return ready();
    };
    const auto in_doubt = [&] {
        if (serves) hooks_.doubt();
        doubt();
    };
    if (network_ != nullptr) wait_for_network(look, in_doubt);
    else if (attends || (serves && !hooks_.empty())) wait::wait(memory_.own().bell, patience_, look, in_doubt);
    else wait::wait(memory_.own().bell, patience_, ready, doubt);
}

template <class Ready>
bool Progress::wait_at_most(std::chrono::nanoseconds limit, Ready ready) {
    if (ready()) return true;
    if (network_ == nullptr) return wait::wait_at_most(memory_.own().bell, limit, ready);
    network_->release();
    wait::Patience awake = patience_;
    awake.spin = std::min(awake.spin, limit);
    awake.yield = std::min(awake.yield, limit);
    {
        const PollingWait polling(*network_);
        const auto look = [&] {
            network_->poll();
            return ready();
        };
        if (wait::awake(awake, look)) return true;
    }
    if (awake.yield == limit) return false;
    network_->hand_over();
    const bool is_ready = wait::wait_at_most(memory_.own().bell, limit - awake.yield, ready);
    network_->take_back();
    return is_ready;
}

/// While this thread is awake it receives, and it stays awake as long as messages arrive. When it sleeps, the agent
/// receives and rings the bell.
template <class Look, class Doubt>
void Progress::wait_for_network(Look look, Doubt doubt) {
    network_->release();
    bool received = false;
    const auto receive = [&] {
        received = network_->poll() || received;
        return look();
    };
    const auto wait_awake = [&] {
        const PollingWait polling(*network_);
        do {
            received = false;
            if (wait::awake(wait::until_doubt(patience_), receive)) return true;
            doubt();
        } while (received || !wait::sleeps(patience_));
        return false;
    };
    if (wait_awake()) return;
    network_->hand_over();
    wait::wait(memory_.own().bell, wait::asleep(patience_), look);
    network_->take_back();
}

} // namespace kumiki::fabric
