#pragma once

#include <cstdint>

#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// Two ranks and their locks of shared arrays; the manager of a lock is the rank with its number.
class Locking {
public:
    /// Collective.
    explicit Locking(Job& job) : job_(job), turn_(job.handle(), 1, Homes::block) { job.shared_barrier(); }

    /// Rank 0 takes and releases a lock that nobody else wants; rank 1 waits in the library meanwhile.
    bool alone(int lock, std::uint64_t count) {
        auto mine = job_.shared_lock(lock);
        for (std::uint64_t round = 0; job_.rank() == 0 && round < count; ++round) {
            mine.lock();
            mine.unlock();
        }
        return true;
    }
    /// The ranks change a word in turn, `count` times each, under a lock that both always want. Returns whether each
    /// has found what the other wrote last.
    bool in_turn(std::uint64_t count) {
        auto common = job_.shared_lock(1);
        volatile std::uint64_t& turn = turn_[0];
        bool right = true;
        for (const std::uint64_t end = turns_ + count; turns_ < end;) {
            common.lock();
            const std::uint64_t now = turn, expected = 2 * turns_ + static_cast<std::uint64_t>(job_.rank());
            if (now == expected) {
                turn = now + 1;
                ++turns_;
            } else {
                right = right && now == expected - 1; // the other one has not had its turn yet
            }
            common.unlock();
        }
        return right;
    }

private:
    Job& job_;
    SharedArray<std::uint64_t> turn_;
    std::uint64_t turns_ = 0; ///< that this rank has had
};

} // namespace kumiki::bench
