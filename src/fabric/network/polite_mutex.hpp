#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

namespace kumiki::fabric {

/// A mutex of which a thread that comes back again and again can tell that another one waits for it, and stay away: a
/// plain one would go to the thread that has it in its cache, for as long as it likes.
class PoliteMutex {
public:
    void lock() {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        mutex_.lock();
        wanted_.fetch_sub(1, std::memory_order_relaxed);
    }
    /// As polite as lock(), for a thread that has to look after something else when it takes long.
    bool try_lock_for(std::chrono::nanoseconds patience) {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        const bool locked = lock_within(patience);
        wanted_.fetch_sub(1, std::memory_order_relaxed);
        return locked;
    }
    bool try_lock() { return !is_wanted() && mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }
    bool is_wanted() const { return wanted_.load(std::memory_order_relaxed) != 0; }

private:
    bool lock_within(std::chrono::nanoseconds patience) {
#ifdef __SANITIZE_THREAD__
        // ThreadSanitizer before GCC 13 does not see that pthread_mutex_clocklock locks; it sees the lock by the
        // system's clock.
        return mutex_.try_lock_until(std::chrono::system_clock::now() + patience);
#else
        return mutex_.try_lock_for(patience);
#endif
    }

    std::timed_mutex mutex_;
    std::atomic<int> wanted_{0}; ///< threads in lock()
};

} // namespace kumiki::fabric
