#pragma once

#include <atomic>
#include <chrono>

#include "platform/futex.hpp"
#include "wait/bell.hpp"

namespace kumiki::wait {

/// wait() with a limit, for a thread of the library that looks again after a while in any case: it sleeps at once, and
/// returns whether ready() became true. Unlike wait(), it makes no thread execute a fence. A ring may therefore miss
/// the sleeper, which then sees the change when the limit has passed.
template <class Ready>
bool wait_at_most(Bell& bell, std::chrono::nanoseconds limit, Ready ready) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + limit;
    bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
    bool is_ready = false;
    for (auto left = limit; !is_ready && left > std::chrono::nanoseconds::zero(); left = end - Clock::now()) {
        const auto rings = bell.rings.load(std::memory_order_acquire);
        is_ready = ready();
        if (!is_ready) platform::futex_wait(bell.rings, rings, left);
    }
    bell.sleepers.fetch_sub(1, std::memory_order_relaxed);
    return is_ready || ready();
}

} // namespace kumiki::wait
