#include "launch/system/events.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace kumiki::launch {

int milliseconds_until(std::optional<std::chrono::steady_clock::time_point> due) {
    if (!due) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

void Events::add(int descriptor, std::uint32_t interest, Action action) {
    const bool known = actions_.contains(descriptor);
    actions_[descriptor] = std::make_shared<Action>(std::move(action));
    epoll_event event{.events = interest, .data = {.fd = descriptor}};
    const int operation = known && !always_ready_.contains(descriptor) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(poller_.get(), operation, descriptor, &event) != 0 && errno == EPERM)
        always_ready_.insert(descriptor);
}

void Events::remove(int descriptor) {
    if (actions_.erase(descriptor) == 0) return;
    if (always_ready_.erase(descriptor) == 0) epoll_ctl(poller_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Events::wait(std::optional<Clock::time_point> due) {
    if (!always_ready_.empty()) due = Clock::now();
    std::array<epoll_event, 64> ready;
    const int count = epoll_wait(poller_.get(), ready.data(), static_cast<int>(ready.size()), milliseconds_until(due));
    for (int i = 0; i < count; ++i) call(ready[static_cast<std::size_t>(i)].data.fd);
    for (const int descriptor : std::set<int>(always_ready_)) call(descriptor);
}

void Events::call(int descriptor) {
    const auto found = actions_.find(descriptor);
    if (found == actions_.end()) return;
    const auto action = found->second;
    if (*action) (*action)();
}

} // namespace kumiki::launch
