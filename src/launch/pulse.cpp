#include "launch/pulse.hpp"

#include <sys/timerfd.h>

namespace kumiki::launch {
namespace {

constexpr int beats_per_timeout = 4;

} // namespace

void Pulse::start(Events& events, std::function<void()> beat, std::function<void()> silent) {
    events_ = &events;
    beat_ = std::move(beat);
    silent_ = std::move(silent);
    timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const auto interval = std::chrono::nanoseconds(timeout_) / beats_per_timeout;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(interval);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (interval - seconds).count()};
    const itimerspec setting{.it_interval = time, .it_value = time};
    timerfd_settime(timer_.get(), 0, &setting, nullptr);
    events.add(timer_.get(), EPOLLIN, [this] { tick(); });
}

void Pulse::stop() {
    if (timer_) events_->remove(timer_.get());
    timer_.reset();
}

/// Beats are counted and not seconds: whoever was stopped himself has missed none, however late it is.
void Pulse::tick() {
    std::uint64_t expirations = 0;
    static_cast<void>(!read(timer_.get(), &expirations, sizeof expirations));
    beat_();
    if (missed_ >= 0 && ++missed_ > beats_per_timeout && timer_) silent_();
}

} // namespace kumiki::launch
