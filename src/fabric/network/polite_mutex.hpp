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
    /// As polite as lock(), for who has to look after something else when it takes long.
    bool try_lock_for(std::chrono::nanoseconds patience) {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        const bool locked = mutex_.try_lock_for(patience);
        wanted_.fetch_sub(1, std::memory_order_relaxed);
        return locked;
    }
    bool try_lock() { return !is_wanted() && mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }
    bool is_wanted() const { return wanted_.load(std::memory_order_relaxed) != 0; }

private:
    std::timed_mutex mutex_;
    std::atomic<int> wanted_{0}; ///< threads in lock()
};

} // namespace kumiki::fabric
