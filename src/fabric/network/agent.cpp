#include "fabric/network/agent.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "platform/thread.hpp"

namespace kumiki::fabric {

using namespace std::chrono_literals;

namespace {

/// The longest time that a message may wait when the program has just returned to its computation.
constexpr auto short_nap = 50us;
constexpr auto long_nap = 1ms;
/// How long held-back messages wait for more.
constexpr auto patience_for_more = 1ms;

} // namespace

Result<> Agent::start(Duties duties) {
    duties_ = std::move(duties);
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot make an eventfd ({}); raise the limit of open files "
                                                          "(ulimit -n)",
                                                          std::strerror(errno)));
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot start the thread that serves the network ({}); raise the limit (ulimit -u)",
                                error.what()));
    }
    return {};
}

void Agent::stop() {
    stop_.store(true, std::memory_order_release);
    if (thread_.joinable()) {
        wake();
        thread_.join();
    }
    if (wake_ >= 0) close(wake_);
    wake_ = -1;
}

void Agent::take_over() {
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    relieved_.store(false, std::memory_order_relaxed);
    wake();
}

/// All these accesses have a single total order (sequential consistency), so either this call sees that the agent is
/// not napping and wakes it, or the agent sees the reminder after its nap.
void Agent::remind() {
    if (reminded_.load(std::memory_order_relaxed)) return;
    reminded_.store(true);
    if (!naps_.load()) wake();
}

void Agent::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_, &one, sizeof one); // a full counter wakes the agent, too
}

/// Naps are short unless the program has been in the same wait for several naps.
void Agent::nap() {
    constexpr int short_naps = 10;
    const std::uint64_t wait = waits_begun_.load(std::memory_order_relaxed);
    const bool same = std::exchange(wait_seen_, wait) == wait && waits_.load(std::memory_order_relaxed) > 0;
    naps_in_wait_ = same ? naps_in_wait_ + 1 : 0;
    naps_.store(true);
    if (naps_in_wait_ <= short_naps) {
        sleep(-1, short_nap);
    } else {
        naps_long_.store(true);
        if (waits_.load() > 0) sleep(-1, long_nap);
        naps_long_.store(false);
    }
    naps_.store(false);
}

void Agent::serve() {
    platform::sleep_precisely();
    constexpr auto never = std::chrono::steady_clock::time_point::max();
    auto release_at = never;
    auto next_tick = std::chrono::steady_clock::now();
    auto awake_until = next_tick;
    while (!stop_.load(std::memory_order_acquire)) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= next_tick) {
            duties_.tick();
            next_tick = now + duties_.period;
        }
        if (now >= release_at) {
            duties_.release();
            release_at = never;
        }
        if (reminded_.exchange(false)) release_at = std::min(release_at, now + patience_for_more);
        if (relieved_.exchange(false, std::memory_order_relaxed)) {
            nap();
            continue;
        }
        const bool received = duties_.receive();
        if (received) awake_until = now + duties_.linger;
        if (now < awake_until && sleepers_.load(std::memory_order_relaxed) > 0) {
            // A thread that a message has woken may need this core. Without the yield it would wait for the end of a
            // time slice as long as messages arrive, and both sides would send and receive in turn instead of
            // concurrently.
            std::this_thread::yield();
        } else if (!received && duties_.arm())
            sleep(duties_.descriptor, release_at == never ? duties_.period : patience_for_more);
    }
}

/// Sleeps until `descriptor` is readable, wake() is called, or the time is over.
void Agent::sleep(int descriptor, std::chrono::nanoseconds at_most) {
    std::array<pollfd, 2> events{{{wake_, POLLIN, 0}, {descriptor, POLLIN, 0}}};
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
    ppoll(events.data(), events.size(), &limit, nullptr);
    std::uint64_t count = 0;
    if ((events[0].revents & POLLIN) != 0) [[maybe_unused]]
        const auto emptied = read(wake_, &count, sizeof count);
}

} // namespace kumiki::fabric
