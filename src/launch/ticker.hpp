#pragma once

#include <chrono>
#include <functional>

#include "launch/events.hpp"

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

} // namespace kumiki::launch
