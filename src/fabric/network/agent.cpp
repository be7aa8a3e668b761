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

namespace kumiki::fabric {

using namespace std::chrono_literals;

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

/// In the one order of all these accesses, either this sees that the agent does not nap and wakes it, or the agent sees
/// the reminder when it has napped.
void Agent::remind() {
    if (reminded_.load(std::memory_order_relaxed)) return;
    reminded_.store(true);
    if (!naps_.load()) wake();
}

void Agent::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_, &one, sizeof one); // full: it will wake all the same
}

void Agent::serve() {
    constexpr std::chrono::milliseconds lease = 1ms;
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
        if (reminded_.exchange(false)) release_at = std::min(release_at, now + lease);
        if (relieved_.exchange(false, std::memory_order_relaxed)) {
            naps_.store(true);
            sleep(-1, lease);
            naps_.store(false);
            continue;
        }
        const bool received = duties_.receive();
        if (received) awake_until = now + duties_.linger;
        if (now < awake_until && sleepers_.load(std::memory_order_relaxed) > 0) {
            // A thread that was woken by what came may need this very core: as long as more comes, it would wait for a
            // time slice to end, and both sides would send and receive by turns instead of at once.
            std::this_thread::yield();
        } else if (!received && duties_.arm()) sleep(duties_.descriptor, release_at == never ? duties_.period : lease);
    }
}

/// Until `descriptor` is readable, somebody wakes it, or the time is over.
void Agent::sleep(int descriptor, std::chrono::milliseconds at_most) {
    std::array<pollfd, 2> events{{{wake_, POLLIN, 0}, {descriptor, POLLIN, 0}}};
    poll(events.data(), events.size(), static_cast<int>(at_most.count()));
    std::uint64_t count = 0;
    if ((events[0].revents & POLLIN) != 0) [[maybe_unused]]
        const auto emptied = read(wake_, &count, sizeof count);
}

} // namespace kumiki::fabric
