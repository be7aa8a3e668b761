#pragma once

#include <atomic>
#include <cstdint>

namespace kumiki::openmp {

/// A fair lock of 32 bits, the size of omp_lock_t; a word of zeros is an open lock. Threads take tickets, and enter in
/// their order: the upper half is the next ticket, the lower half the ticket that is served. At most 65535 threads may
/// wait for one lock.
///
/// The threads that sleep do so at a bell that several locks share (they are found by the lock's address), so that a
/// lock may be destroyed, and its memory reused, as soon as it is open: no thread touches it after its release.
class Lock {
public:
    void enter() {
        // acquire: the thread sees what those did that held the lock before.
        const std::uint32_t before = word_.fetch_add(ticket, std::memory_order_acquire);
        if (next(before) != served(before)) [[unlikely]]
            wait_for(next(before));
    }
    bool try_enter() {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        return next(seen) == served(seen) &&
               word_.compare_exchange_strong(seen, seen + ticket, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void leave() {
        // Only the holder changes the lower half. It must not carry into the upper one.
        const std::uint32_t mine = served(word_.load(std::memory_order_relaxed));
        const std::uint32_t step = mine == last ? 0U - last : 1U;
        const std::uint32_t before = word_.fetch_add(step, std::memory_order_release);
        if (next(before) != ((mine + 1) & last)) [[unlikely]]
            wake();
    }
    void reset() { word_.store(0, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t ticket = 0x10000, last = 0xffff;

    static std::uint32_t next(std::uint32_t word) { return word >> 16; }
    static std::uint32_t served(std::uint32_t word) { return word & last; }
    void wait_for(std::uint32_t turn);
    void wake() const;

    std::atomic<std::uint32_t> word_{0};
};

/// The same for a lock in a word of the program, which other ranks may know, too.
void enter_lock(Lock& lock);
bool try_lock(Lock& lock);
void leave_lock(Lock& lock);
void destroy_lock(Lock& lock);

/// The lock of atomic constructs for which the processor has no instruction: one for all ranks.
void enter_atomic();
void leave_atomic();
class HoldingAtomic {
public:
    HoldingAtomic() { enter_atomic(); }
    ~HoldingAtomic() { leave_atomic(); }
    HoldingAtomic(const HoldingAtomic&) = delete;
    HoldingAtomic& operator=(const HoldingAtomic&) = delete;
};

/// Holds a lock for the length of a scope.
class Holding {
public:
    explicit Holding(Lock& lock) : lock_(lock) { lock_.enter(); }
    ~Holding() { lock_.leave(); }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

private:
    Lock& lock_;
};

} // namespace kumiki::openmp
