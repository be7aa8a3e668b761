#include "wait/thread_barrier.hpp"

namespace kumiki::wait {

bool ThreadBarrier::arrive_and_wait(int thread) {
    if (places_.size() == 1) return true;
    if (patience_.crowded) count();
    else disseminate(thread);
    return !broken();
}

void ThreadBarrier::disseminate(int thread) {
    const auto place = [this](int of) -> Place& { return places_[static_cast<std::size_t>(of)]; };
    Place& mine = place(thread);
    const std::uint64_t epoch = ++mine.epoch;
    wait::disseminate(
        thread, static_cast<int>(places_.size()),
        [&](int other, int round) {
            place(other).flags[static_cast<std::size_t>(round)].value.store(epoch, std::memory_order_release);
            ring(bell_, patience_);
        },
        [&](int round) {
            // A partner may already be one barrier ahead and have raised the flag for the next one: hence >= and not ==.
            const auto& flag = mine.flags[static_cast<std::size_t>(round)].value;
            wait::wait(bell_, patience_, [&] { return flag.load(std::memory_order_acquire) >= epoch || broken(); });
        });
}

void ThreadBarrier::count() {
    const std::uint64_t epoch = gate_.arrive(static_cast<int>(places_.size()), [this] { ring(bell_, patience_); });
    wait::wait(bell_, patience_, [&] { return gate_.opened(epoch) || broken(); });
}

void ThreadBarrier::break_up() {
    broken_.store(true, std::memory_order_relaxed);
    ring(bell_, patience_);
}

void ThreadBarrier::mend() {
    if (!broken()) return;
    for (Place& place : places_) {
        place.epoch = 0;
        for (Flag& flag : place.flags) flag.value.store(0, std::memory_order_relaxed);
    }
    gate_.arrived.value.store(0, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
}

} // namespace kumiki::wait
