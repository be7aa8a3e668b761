#pragma once

#include <atomic>
#include <cstdint>

#include "platform/held_locks.hpp"
#include "wait/wait.hpp"

namespace kumiki::message {

/// A lock that is nearly always free: it costs one exchange to take, and one store and a check of the bell to release.
/// A thread that holds it must not wait.
class Lock {
public:
    explicit Lock(const wait::Patience& patience) : patience_(patience) {}

    void lock() {
        if (taken_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
            wait_for_it();
        platform::note_locked();
    }
    void unlock() {
        platform::note_unlocked();
        taken_.store(0, std::memory_order_release);
        wait::ring(bell_, patience_);
    }

private:
    void wait_for_it() {
        wait::wait(bell_, patience_, [this] {
            return taken_.load(std::memory_order_relaxed) == 0 && taken_.exchange(1, std::memory_order_acquire) == 0;
        });
    }

    const wait::Patience& patience_;
    alignas(platform::apart) std::atomic<std::uint32_t> taken_{0};
    wait::Bell bell_{};
};

} // namespace kumiki::message
