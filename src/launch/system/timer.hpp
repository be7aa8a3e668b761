#pragma once

#include <chrono>
#include <functional>

#include "launch/system/events.hpp"

namespace kumiki::launch {

/// How many times within a timeout the launcher checks, or sends a heartbeat.
inline constexpr int beats_per_timeout = 4;

/// Calls an action at regular intervals. It does not make up for calls that were missed because this process was
/// stopped.
class PeriodicTimer {
public:
    PeriodicTimer() = default;
    ~PeriodicTimer() { stop(); }
    PeriodicTimer(const PeriodicTimer&) = delete;
    PeriodicTimer& operator=(const PeriodicTimer&) = delete;

    void start(Events& events, std::chrono::nanoseconds interval, std::function<void()> action);
    /// May be called within the action.
    void stop();
    bool runs() const { return static_cast<bool>(timer_); }

private:
    Events* events_ = nullptr;
    platform::Descriptor timer_;
};

/// Sends the other side heartbeats at regular intervals, and detects when the other side is silent: a network that is
/// cut does not end a connection.
class Heartbeat {
public:
    /// The other side counts as silent when heard() has not been called for `timeout`.
    explicit Heartbeat(std::chrono::seconds timeout) : timeout_(timeout) {}
    Heartbeat(const Heartbeat&) = delete;
    Heartbeat& operator=(const Heartbeat&) = delete;

    /// Calls `beat` several times in a timeout, and `silent` at each of these times if the other side is silent.
    void start(Events& events, std::function<void()> beat, std::function<void()> silent);
    void stop() { timer_.stop(); }
    void heard() { missed_ = 0; }
    /// The other side is stopped: its silence means nothing until it is heard from again.
    void suspend() { missed_ = -1; }

private:
    std::chrono::seconds timeout_;
    PeriodicTimer timer_;
    int missed_ = 0; ///< this side's beats since the other side's last heartbeat; negative: not counted
};

} // namespace kumiki::launch
