#include "launch/system/timer.hpp"

#include <cstdint>
#include <sys/timerfd.h>
#include <utility>

namespace kumiki::launch {

void PeriodicTimer::start(Events& events, std::chrono::nanoseconds interval, std::function<void()> action) {
    events_ = &events;
    timer_ = platform::Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
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

void PeriodicTimer::stop() {
    if (timer_) events_->remove(timer_.get());
    timer_.reset();
}

/// Silence is measured in beats and not in seconds: a process that was stopped itself has sent no beats meanwhile,
/// however much time has passed.
void Heartbeat::start(Events& events, std::function<void()> beat, std::function<void()> silent) {
    const auto tick = [this, beat = std::move(beat), silent = std::move(silent)] {
        beat();
        if (missed_ >= 0 && ++missed_ > beats_per_timeout && timer_.runs()) silent();
    };
    timer_.start(events, std::chrono::nanoseconds(timeout_) / beats_per_timeout, tick);
}

} // namespace kumiki::launch
