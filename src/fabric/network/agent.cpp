#include "fabric/network/agent.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "platform/thread.hpp"

namespace kumiki::fabric {

using namespace std::chrono_literals;

namespace {

/// The time until the agent checks again whether the program still polls.
constexpr auto lease = 1ms;
/// A program that has not waited for so long computes, and will probably compute again after its next wait.
constexpr std::int64_t computation = 200'000; // ns

std::int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

} // namespace

Result<> Agent::start(Duties duties) {
    duties_ = std::move(duties);
    if (auto opened = waker_.open(); !opened) return opened;
    auto started = platform::start_thread("serves the network", [this] { serve(); });
    if (!started) return tl::unexpected(started.error());
    thread_ = std::move(*started);
    return {};
}

void Agent::stop() {
    stop_.store(true, std::memory_order_release);
    if (thread_.joinable()) {
        wake();
        thread_.join();
    }
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

void Agent::begin_wait() {
    if (waits_.fetch_add(1, std::memory_order_relaxed) == 0)
        computes_.store(now_ns() - ended_.load(std::memory_order_relaxed) > computation, std::memory_order_relaxed);
}

/// Its accesses and those of nap() have a single total order (sequential consistency), so either this call sees that
/// the agent naps and wakes it, or the agent sees that no thread waits and does not nap.
void Agent::end_wait() {
    if (waits_.fetch_sub(1) != 1) return;
    ended_.store(now_ns(), std::memory_order_relaxed);
    if (computes_.load(std::memory_order_relaxed) && naps_.load()) wake();
}

/// Returns false if the program has probably gone back to its computation.
bool Agent::nap() {
    naps_.store(true);
    const bool sleeps = waits_.load() > 0 || !computes_.load(std::memory_order_relaxed);
    if (sleeps) waker_.sleep(-1, lease);
    naps_.store(false);
    return sleeps;
}

void Agent::serve() {
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
        if (relieved_.exchange(false, std::memory_order_relaxed) && nap()) continue;
        const bool received = duties_.receive();
        if (received) awake_until = now + duties_.linger;
        if (now < awake_until && sleepers_.load(std::memory_order_relaxed) > 0) {
            // A thread that a message has woken may need this core. Without the yield it would wait for the end of a
            // time slice as long as messages arrive, and both sides would send and receive in turn instead of
            // concurrently.
            platform::yield();
        } else if (!received && duties_.arm())
            waker_.sleep(duties_.descriptor, release_at == never ? duties_.period : lease);
    }
}

} // namespace kumiki::fabric
