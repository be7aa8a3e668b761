#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "platform/zeroed_array.hpp"

namespace kumiki::openmp {

/// Locks while all other ranks rest: they wait for the next region of all ranks, and none of their threads has a lock.
/// Then it is enough that a thread has entered the lock of its rank. When the rest ends, the rank acquires the locks
/// that threads still have; until that is done, other threads wait.
///
/// A thread that takes a lock writes that down before it looks whether the others still rest; the thread that ends the
/// rest writes before it looks for such locks, in one total order (sequential consistency). So one of them sees the
/// other, and the exchange of the lock's word decides which of them has it.
class LocksAtRest {
public:
    explicit LocksAtRest(std::size_t locks) : taken_(locks) {}

    bool others_rest() const { return state_.load() == rest; }
    /// Not 0 while they do.
    const std::atomic<std::uint8_t>& state() const { return state_; }
    /// Whether threads have taken locks.
    bool are_taken() const { return count_.load() != 0; }
    void begin() { state_.store(rest); }
    /// Calls acquire(lock) for each lock that a thread has taken, and release(lock) if it has left it meanwhile.
    template <class Acquire, class Release>
    void end(Acquire acquire, Release release) {
        state_.store(ends);
        for (std::size_t lock = 0; count_.load() != 0 && lock < taken_.size(); ++lock) {
            if (taken_[lock].load() == 0) continue;
            acquire(static_cast<int>(lock));
            if (!give_back(static_cast<int>(lock))) release(static_cast<int>(lock));
        }
        state_.store(over);
    }

    // -- by a thread that has entered the lock of its rank --

    /// Whether the thread has the lock now; otherwise it must acquire it.
    bool take(int lock) {
        if (settled() == over) return false;
        count_.fetch_add(1);
        taken_[static_cast<std::size_t>(lock)].store(1);
        return settled() == rest || !give_back(lock);
    }
    /// Whether it had taken the lock, and need not release it.
    bool leave(int lock) {
        settled();
        return count_.load() != 0 && give_back(lock);
    }

private:
    enum : std::uint8_t { over, rest, ends };

    std::uint8_t settled() const {
        for (;;) {
            if (const std::uint8_t state = state_.load(); state != ends) return state;
            std::this_thread::yield();
        }
    }
    bool give_back(int lock) {
        if (taken_[static_cast<std::size_t>(lock)].exchange(0) == 0) return false;
        count_.fetch_sub(1);
        return true;
    }

    std::atomic<std::uint8_t> state_{over};
    std::atomic<int> count_{0}; ///< of taken locks
    platform::ZeroedArray<std::atomic<std::uint8_t>> taken_;
};

} // namespace kumiki::openmp
