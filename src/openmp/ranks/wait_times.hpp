#pragma once

#include <atomic>
#include <chrono>
#include <utility>

namespace kumiki::openmp {

/// How long the threads of a rank have been busy with other ranks in the runtime. The time in page faults is not in it:
/// the shared memory counts that.
class WaitTimes {
public:
    using Clock = std::chrono::steady_clock;
    /// One thread for all of the rank; each by itself; each by itself for tasks (TaskExchange).
    enum Where : unsigned { barriers, threads, tasks };

    /// Nothing is counted before.
    void begin() { is_counted_ = true; }
    Clock::duration at(Where where) const { return Clock::duration(sums_[where].load(std::memory_order_relaxed)); }

    /// Adds the time of a scope, but for a scope inside another one.
    class Scope {
    public:
        /// `weight`: for how many such scopes it stands, of which only this one is counted; 0: it is not. `besides`:
        /// what each of them takes outside of the scope.
        Scope(WaitTimes& times, Where where, unsigned weight = 1, Clock::duration besides = {})
            : sum_(times.sums_[where]), weight_(weight), besides_(besides) {
            if (!times.is_counted_ || weight == 0 || std::exchange(is_inside, true)) return;
            begin_ = Clock::now();
            counts_ = true;
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() {
            if (!counts_) return;
            sum_.fetch_add((Clock::now() - begin_ + besides_).count() * weight_, std::memory_order_relaxed);
            is_inside = false;
        }

    private:
        inline static thread_local bool is_inside = false;
        std::atomic<Clock::rep>& sum_;
        unsigned weight_;
        Clock::duration besides_;
        bool counts_ = false;
        Clock::time_point begin_;
    };

private:
    bool is_counted_ = false;
    std::atomic<Clock::rep> sums_[3] = {};
};

} // namespace kumiki::openmp
