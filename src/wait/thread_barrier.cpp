#include "wait/thread_barrier.hpp"

namespace kumiki::wait {

bool ThreadBarrier::arrive_and_wait(int thread) {
    if (places_.size() == 1) return true;
    Place& mine = place(thread);
    const std::uint64_t epoch = ++mine.epoch;
    if (is_lost(epoch)) return false;
    return patience_.crowded ? count(epoch) : disseminate(thread, epoch);
}

bool ThreadBarrier::disseminate(int thread, std::uint64_t epoch) {
    const Place& mine = place(thread);
    return wait::disseminate(
        thread, static_cast<int>(places_.size()),
        [&](int other, int round) {
            place(other).flags[static_cast<std::size_t>(round)].value.store(epoch, std::memory_order_release);
            ring(bell_, patience_);
        },
        [&](int round) {
            // A partner may already be one barrier ahead and have raised the flag for the next one, so the comparison
            // is >= and not ==.
            const auto& flag = mine.flags[static_cast<std::size_t>(round)].value;
            wait::wait(bell_, patience_,
                       [&] { return flag.load(std::memory_order_acquire) >= epoch || is_lost(epoch); });
            return flag.load(std::memory_order_acquire) >= epoch;
        });
}

bool ThreadBarrier::count(std::uint64_t epoch) {
    gate_.arrive(static_cast<int>(places_.size()), [this] { ring(bell_, patience_); });
    wait::wait(bell_, patience_, [&] { return gate_.opened(epoch) || is_lost(epoch); });
    return gate_.opened(epoch);
}

void ThreadBarrier::break_up(int thread) {
    const std::uint64_t passed = place(thread).epoch;
    std::uint64_t last = last_.load(std::memory_order_relaxed);
    while (passed < last && !last_.compare_exchange_weak(last, passed, std::memory_order_relaxed)) {}
    ring(bell_, patience_);
}

void ThreadBarrier::mend() {
    if (last_.load(std::memory_order_relaxed) == whole) return;
    for (Place& each : places_) {
        each.epoch = 0;
        for (Flag& flag : each.flags) flag.value.store(0, std::memory_order_relaxed);
    }
    gate_.arrived.value.store(0, std::memory_order_relaxed);
    gate_.epoch.value.store(0, std::memory_order_relaxed);
    last_.store(whole, std::memory_order_relaxed);
}

} // namespace kumiki::wait
