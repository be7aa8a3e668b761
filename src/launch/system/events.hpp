#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sys/epoll.h>

#include "launch/system/descriptor.hpp"

namespace kumiki::launch {

/// How long to wait, as poll and epoll want it; -1, for ever, when nothing is due.
int milliseconds_until(std::optional<std::chrono::steady_clock::time_point> due);

/// Waits for many descriptors and calls what belongs to those that are ready.
class Events {
public:
    using Action = std::function<void()>;
    using Clock = std::chrono::steady_clock;

    Events() : poller_(epoll_create1(EPOLL_CLOEXEC)) {}

    /// Calls `action` whenever `descriptor` is ready for `interest` (EPOLLIN or EPOLLOUT); what was set for it before
    /// is forgotten. Files, which are always ready, are served at every wait.
    void add(int descriptor, std::uint32_t interest, Action action);
    /// To be called before the descriptor is closed. Actions may remove any descriptor.
    void remove(int descriptor);
    /// Returns after something was ready, or when it is due; not given: waits for ever.
    void wait(std::optional<Clock::time_point> due);

private:
    void call(int descriptor);
    Descriptor poller_;
    std::map<int, std::shared_ptr<Action>> actions_; ///< an action may remove itself while it runs
    std::set<int> always_ready_;
};

} // namespace kumiki::launch
