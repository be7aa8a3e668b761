#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "dsm/locks.hpp"
#include "error/result.hpp"
#include "openmp/lock.hpp"
#include "platform/zeroed_array.hpp"

namespace kumiki::openmp {

/// Locks of the program that this rank keeps when its threads leave them (docs/decisions/shared-locks.md). A thread
/// that enters and leaves locks all the time would wait for a message each time, as its locks go to and fro between the
/// ranks. So a thread that has done so many times in a short while leaves its locks to its rank, and the next one of
/// the rank enters them without a message. When another rank asks for one, it gets it as soon as no thread is in it,
/// but not before this rank has had it for a little while, if it has been entered again in that.
///
/// What threads have written is released only with the lock, or by whatever else they do that orders memory.
class KeptLocks {
public:
    /// `here_first`: by number of a lock, what the threads of this rank enter first. release(lock) lets the other ranks
    /// have the lock, which the calling thread has entered so and taken over, and leaves what it has entered first.
    static Result<std::unique_ptr<KeptLocks>> start(dsm::Locks& locks, Lock* here_first,
                                                    std::function<void(int lock)> release);
    KeptLocks(const KeptLocks&) = delete;
    KeptLocks& operator=(const KeptLocks&) = delete;

    // -- by a thread that has entered the lock of its rank --

    /// Takes the lock over if this rank has kept it. Otherwise the thread must acquire it, and call acquired().
    bool take(int lock);
    void acquired(int lock);
    /// Whether the rank keeps the lock, which the thread is leaving. Then it must leave the lock of its rank and call
    /// left(); otherwise it must release the lock.
    bool keep(int lock);
    void left(int lock);

    /// Before a barrier of all ranks, when no thread of this one is in a lock: gives all away. What the rank releases
    /// in the barrier the others learn of only there, and not with a lock that one of them gets meanwhile.
    void give_all();

private:
    using Clock = std::chrono::steady_clock;

    struct Kept {
        bool is_reused, is_listed; ///< as `is_kept`, written by threads that have entered the lock of the rank
        std::atomic<bool> is_kept, is_wanted;
        std::atomic<bool> is_watched;            ///< the thread that serves will look at it at the end of its turn
        std::atomic<Clock::duration::rep> since; ///< when this rank acquired it
    };

    KeptLocks(dsm::Locks& locks, Lock* here_first, std::function<void(int lock)> release);
    void recall(int lock);
    void serve(const std::stop_token& stop);
    void give(int lock);
    void give_entered(int lock);
    void look_at(int lock, Clock::time_point when);
    static Clock::time_point end_of_turn(const Kept& kept);

    dsm::Locks& locks_;
    Lock* here_first_;
    std::function<void(int lock)> release_;
    platform::ZeroedArray<Kept> all_; ///< by number
    std::mutex giving_;               ///< held while a lock is given away, so that a barrier begins behind that
    std::mutex mutex_;                ///< of what follows
    std::condition_variable_any changed_;
    std::map<int, Clock::time_point> recalled_; ///< when to look at them
    std::vector<int> listed_;                   ///< what has been kept since the last barrier
    std::atomic<bool> is_full_{false};          ///< no more can be listed
    std::jthread thread_;
};

} // namespace kumiki::openmp
