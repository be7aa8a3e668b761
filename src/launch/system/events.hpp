#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sys/epoll.h>

#include "platform/descriptor.hpp"

namespace kumiki::launch {

/// The time until `due` in the form that poll and epoll expect; -1, which means forever, if nothing is due.
int milliseconds_until(std::optional<std::chrono::steady_clock::time_point> due);

/// What is read from a pipe or socket at once, bytes: as much as a pipe holds. The room for it comes from the heap,
/// because a user may have limited stacks to no more (ulimit -s).
constexpr std::size_t read_size = std::size_t{64} << 10;

/// Waits for many descriptors and calls the actions of those that are ready.
class Events {
public:
    using Action = std::function<void()>;
    using Clock = std::chrono::steady_clock;

    Events() : poller_(epoll_create1(EPOLL_CLOEXEC)) {}

    /// Calls `action` whenever `descriptor` is ready for `interest` (EPOLLIN or EPOLLOUT), instead of any earlier
    /// action for it. Regular files are always ready: their actions are called in every wait.
    void add(int descriptor, std::uint32_t interest, Action action);
    /// Must be called before the descriptor is closed. Actions may remove any descriptor.
    void remove(int descriptor);
    /// Returns when a descriptor has been ready, or at `due`; without `due` it waits forever.
    void wait(std::optional<Clock::time_point> due);

private:
    void call(int descriptor);
    platform::Descriptor poller_;
    std::map<int, std::shared_ptr<Action>> actions_; ///< an action may remove itself while it runs
    std::set<int> always_ready_;
};

} // namespace kumiki::launch
