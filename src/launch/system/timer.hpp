#pragma once

#include <chrono>
#include <functional>

#include "launch/system/events.hpp"

namespace kumiki::launch {

/// How often one looks within a time after which something counts as lost.
inline constexpr int beats_per_timeout = 4;

/// Calls something again and again. Beats that were missed, because this process was stopped, are not made up for.
class Ticker {
public:
    Ticker() = default;
    ~Ticker() { stop(); }
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;

    void start(Events& events, std::chrono::nanoseconds interval, std::function<void()> action);
    /// Also within the action.
    void stop();
    bool runs() const { return static_cast<bool>(timer_); }

private:
    Events* events_ = nullptr;
    Descriptor timer_;
};

/// Tells the other side now and then that this one is alive, and notices when the other side is silent: a cut network
/// does not end a connection.
class Pulse {
public:
    /// After `timeout` without heard() the other side counts as silent.
    explicit Pulse(std::chrono::seconds timeout) : timeout_(timeout) {}
    Pulse(const Pulse&) = delete;
    Pulse& operator=(const Pulse&) = delete;

    /// Calls `beat` several times in a timeout, and `silent` at each of these times when the other side is silent.
    void start(Events& events, std::function<void()> beat, std::function<void()> silent);
    void stop() { ticker_.stop(); }
    void heard() { missed_ = 0; }
    /// The other side is stopped: its silence means nothing until it is heard again.
    void excuse() { missed_ = -1; }

private:
    std::chrono::seconds timeout_;
    Ticker ticker_;
    int missed_ = 0; ///< our own beats since the last sign of life; negative: not counted
};

} // namespace kumiki::launch
