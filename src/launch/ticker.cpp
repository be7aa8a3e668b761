#include "launch/ticker.hpp"

#include <cstdint>
#include <sys/timerfd.h>

namespace kumiki::launch {

void Ticker::start(Events& events, std::chrono::nanoseconds interval, std::function<void()> action) {
    events_ = &events;
    timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(interval);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (interval - seconds).count()};
    const itimerspec setting{.it_interval = time, .it_value = time};
    timerfd_settime(timer_.get(), 0, &setting, nullptr);
    events.add(timer_.get(), EPOLLIN, [timer = timer_.get(), action = std::move(action)] {
        std::uint64_t expirations = 0;
        static_cast<void>(!read(timer, &expirations, sizeof expirations));
        action();
    });
}

void Ticker::stop() {
    if (timer_) events_->remove(timer_.get());
    timer_.reset();
}

} // namespace kumiki::launch
