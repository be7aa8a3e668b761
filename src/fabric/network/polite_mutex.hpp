#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "platform/held_locks.hpp"

namespace kumiki::fabric {

/// A mutex that lets a thread which locks it repeatedly see that another thread waits for it, and hold off. A plain
/// mutex would favour the thread that has it in its cache, for as long as that thread likes.
class PoliteMutex {
public:
    void lock() {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        mutex_.lock();
        wanted_.fetch_sub(1, std::memory_order_relaxed);
        platform::note_locked();
    }
    /// As polite as lock(), for a thread that has other work to do when locking takes long.
    bool try_lock_for(std::chrono::nanoseconds patience) {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        const bool locked = lock_within(patience);
        wanted_.fetch_sub(1, std::memory_order_relaxed);
        if (locked) platform::note_locked();
        return locked;
    }
    bool try_lock() {
        const bool locked = !is_wanted() && mutex_.try_lock();
        if (locked) platform::note_locked();
        return locked;
    }
    void unlock() {
        platform::note_unlocked();
        mutex_.unlock();
    }
    bool is_wanted() const { return wanted_.load(std::memory_order_relaxed) != 0; }

private:
    bool lock_within(std::chrono::nanoseconds patience) {
#ifdef __SANITIZE_THREAD__
        // ThreadSanitizer before GCC 13 does not know that pthread_mutex_clocklock locks, but it recognizes the variant
        // that uses the system clock.
        return mutex_.try_lock_until(std::chrono::system_clock::now() + patience);
#else
        return mutex_.try_lock_for(patience);
#endif
    }

    std::timed_mutex mutex_;
    std::atomic<int> wanted_{0}; ///< threads in lock() or try_lock_for()
};

} // namespace kumiki::fabric
