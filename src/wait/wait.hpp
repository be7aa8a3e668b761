#pragma once

#include <atomic>
#include <chrono>

#include "platform/fence.hpp"
#include "platform/futex.hpp"
#include "platform/thread.hpp"
#include "wait/bell.hpp"
#include "wait/patience.hpp"

/// How to wait: every wait of a thread for another thread or rank is a call of wait() or wait_at_most(), and every
/// event that ends one is followed by a call of ring().
///
/// No wake-up is lost. The ringer stores the event (E) and then loads `sleepers` (S); the sleeper stores S and then
/// loads E. On each side the store must precede the load in the single order of all fences; then at least one of the
/// two sees the other's store: either the ringer sees a sleeper and wakes it, or the sleeper sees the event and does
/// not sleep. The ringer is on the fast path of every put, so if the system supports it, the sleeper pays for both:
/// fence_all_threads() executes a fence on every running thread between the sleeper's S and its E, and the ringer only
/// has to keep the compiler from swapping its two accesses. Between the sleeper's look at E and its sleep, `rings`
/// preserves a wake-up: the kernel compares it again under its own lock.
///
/// But fence_all_threads() may miss a thread (seen with Linux 6.18; docs/decisions/waiting.md). Therefore a thread that
/// relied on it looks once more, at a time when any store that the first look missed has long left its core, and only
/// then sleeps without a limit. If a ringer was missed, its wake-up is late by `drained`.
namespace kumiki::wait {

namespace detail {

/// A store takes at most a few microseconds until other cores see it; this is a safe multiple.
inline constexpr auto drained = std::chrono::milliseconds(1);

/// The slow part of ring(), not inlined: a thread sleeps.
void wake(Bell& bell);

/// Spins and yields; returns true when `ready` became true, and false when it is time to sleep. It looks at the clock
/// after this many checks, which should take about a microsecond.
template <int checks_per_look_at_the_clock, class Ready>
bool wait_awake(const Patience& patience, Ready& ready) {
    using Clock = std::chrono::steady_clock;
    using std::chrono::nanoseconds;
    if (patience.yield == nanoseconds::zero()) return false;
    const auto spin = [&ready] {
        for (int check = 0; check < checks_per_look_at_the_clock; ++check)
            if (ready()) return true;
        return false;
    };
    // The first spin comes before the first look at the clock: most waits end within it.
    if (patience.spin > nanoseconds::zero() && spin()) return true;
    const auto start = Clock::now();
    auto waited = nanoseconds::zero();
    for (; waited < patience.spin; waited = Clock::now() - start)
        if (spin()) return true;
    for (; waited < patience.yield; waited = Clock::now() - start) {
        platform::yield();
        if (ready()) return true;
    }
    return false;
}

template <class Ready>
void wait_asleep(Bell& bell, const Patience& patience, Ready& ready) {
    bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (patience.free_rings) platform::fence_all_threads();
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    bool sure = !patience.free_rings;
    for (;;) {
        const auto rings = bell.rings.load(std::memory_order_acquire);
        if (ready()) break;
        if (sure) platform::futex_wait(bell.rings, rings);
        else sure = platform::futex_wait(bell.rings, rings, drained);
    }
    bell.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace detail

/// Must be called after a change that other threads may wait for at `bell`.
inline void ring(Bell& bell, const Patience& patience) {
    if (patience.free_rings) std::atomic_signal_fence(std::memory_order_seq_cst);
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    if (bell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        detail::wake(bell);
}

/// Returns when ready() is true. ready() must read with acquire order what it depends on, and the thread that makes it
/// true must ring `bell`. If the wait takes long, wait() calls `doubt` once: before the thread falls asleep, or after a
/// while if it never does.
template <class Ready, class Doubt>
void wait(Bell& bell, const Patience& patience, Ready ready, Doubt doubt) {
    if (ready()) return;
    if (detail::wait_awake<1024>(until_doubt(patience), ready)) return;
    doubt();
    if (sleeps(patience)) detail::wait_asleep(bell, patience, ready);
    else detail::wait_awake<1024>(patience, ready);
}

template <class Ready>
void wait(Bell& bell, const Patience& patience, Ready ready) {
    wait(bell, patience, ready, [] {});
}

/// The part of wait() in which the thread is awake, for a ready() that does some work itself; returns true when ready()
/// became true. Otherwise the caller must see to it that another thread does that work, and then call wait().
template <class Ready>
bool awake(const Patience& patience, Ready ready) {
    return detail::wait_awake<4>(patience, ready);
}

} // namespace kumiki::wait
