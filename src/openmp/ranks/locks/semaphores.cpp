// Read-write locks (std::shared_mutex), spin locks, semaphores and barriers of the C library, in memory that all
// processes see. Each has its state in its first word, but barriers.
#include <cerrno>
#include <pthread.h>
#include <semaphore.h>

#include "openmp/ranks/locks/object_calls.hpp"

namespace {

using kumiki::openmp::Ranks;
using kumiki::openmp::time_until;
using Most = std::optional<std::chrono::nanoseconds>;
constexpr std::chrono::nanoseconds at_once{0};

template <class Object>
std::uint32_t& word_of(Object* object) {
    return *reinterpret_cast<std::uint32_t*>(const_cast<std::remove_cv_t<Object>*>(object)); // NOLINT: volatile ones
}

// -- read-write locks: how many threads read --

constexpr std::uint32_t is_written = 1U << 31;

bool read(Ranks& ranks, pthread_rwlock_t* lock, Most most) {
    return ranks.await(word_of(lock), most, [](std::uint32_t& readers) {
        if (readers == is_written) return false;
        ++readers;
        return true;
    });
}

bool write(Ranks& ranks, pthread_rwlock_t* lock, Most most) {
    return ranks.await(word_of(lock), most, [](std::uint32_t& readers) {
        if (readers != 0) return false;
        readers = is_written;
        return true;
    });
}

int end_access(Ranks& ranks, pthread_rwlock_t* lock) {
    ranks.change(word_of(lock), [](std::uint32_t& readers) { readers = readers == is_written ? 0 : readers - 1; });
    return 0;
}

// -- semaphores: the value --

bool take(Ranks& ranks, sem_t* semaphore, Most most) {
    return ranks.await(word_of(semaphore), most, [](std::uint32_t& value) {
        if (value == 0) return false;
        --value;
        return true;
    });
}

int post(Ranks& ranks, sem_t* semaphore) {
    ranks.change(word_of(semaphore), [](std::uint32_t& value) { ++value; });
    return 0;
}

/// As functions of semaphores tell errors.
int fails_with(int error) {
    errno = error;
    return -1;
}

// -- barriers --

struct Barrier {
    std::uint32_t meetings; ///< that have ended
    std::uint32_t arrived;  ///< at the present one
    std::uint32_t threads;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));

Barrier& barrier_of(pthread_barrier_t* barrier) { return *reinterpret_cast<Barrier*>(barrier); }

int make(pthread_barrier_t* barrier, unsigned threads) {
    if (threads == 0) return EINVAL;
    barrier_of(barrier) = {0, 0, threads};
    return 0;
}

int meet(Ranks& ranks, Barrier& barrier) {
    std::uint32_t before = 0;
    bool is_last = false;
    ranks.change(barrier.meetings, [&](std::uint32_t& meetings) {
        before = meetings;
        is_last = ++barrier.arrived == barrier.threads;
        if (!is_last) return;
        barrier.arrived = 0;
        ++meetings;
    });
    if (is_last) return PTHREAD_BARRIER_SERIAL_THREAD;
    ranks.await(barrier.meetings, {}, [&](std::uint32_t& meetings) { return meetings != before; });
    return 0;
}

} // namespace

KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), lock, read(*ranks, lock, {});
                  return 0)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), lock,
                  write(*ranks, lock, {});
                  return 0)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), lock,
                  return read(*ranks, lock, at_once) ? 0 : EBUSY)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), lock,
                  return write(*ranks, lock, at_once) ? 0 : EBUSY)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* end),
                  (lock, end), lock, return read(*ranks, lock, time_until(CLOCK_REALTIME, *end)) ? 0 : ETIMEDOUT)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* end),
                  (lock, end), lock, return write(*ranks, lock, time_until(CLOCK_REALTIME, *end)) ? 0 : ETIMEDOUT)
KUMIKI_MOVED_CALL("GLIBC_2.30", pthread_rwlock_clockrdlock,
                  (pthread_rwlock_t * lock, clockid_t clock, const timespec* end), (lock, clock, end), lock,
                  return read(*ranks, lock, time_until(clock, *end)) ? 0 : ETIMEDOUT)
KUMIKI_MOVED_CALL("GLIBC_2.30", pthread_rwlock_clockwrlock,
                  (pthread_rwlock_t * lock, clockid_t clock, const timespec* end), (lock, clock, end), lock,
                  return write(*ranks, lock, time_until(clock, *end)) ? 0 : ETIMEDOUT)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock), lock,
                  return end_access(*ranks, lock))

KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_spin_init, (pthread_spinlock_t * lock, int shared), (lock, shared),
                  (const void*)lock, word_of(lock) = 0;
                  return 0)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_spin_lock, (pthread_spinlock_t * lock), (lock), (const void*)lock,
                  ranks->enter(word_of(lock));
                  return 0)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_spin_trylock, (pthread_spinlock_t * lock), (lock), (const void*)lock,
                  return ranks->try_enter(word_of(lock)) ? 0 : EBUSY)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_spin_unlock, (pthread_spinlock_t * lock), (lock), (const void*)lock,
                  ranks->leave(word_of(lock));
                  return 0)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_spin_destroy, (pthread_spinlock_t * lock), (lock), (const void*)lock,
                  ranks->forget(word_of(lock));
                  return 0)

KUMIKI_MOVED_CALL("GLIBC_2.2.5", sem_wait, (sem_t * semaphore), (semaphore), semaphore, take(*ranks, semaphore, {});
                  return 0)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", sem_trywait, (sem_t * semaphore), (semaphore), semaphore,
                  return take(*ranks, semaphore, at_once) ? 0 : fails_with(EAGAIN))
KUMIKI_MOVED_CALL("GLIBC_2.2.5", sem_timedwait, (sem_t * semaphore, const timespec* end), (semaphore, end), semaphore,
                  return take(*ranks, semaphore, time_until(CLOCK_REALTIME, *end)) ? 0 : fails_with(ETIMEDOUT))
KUMIKI_MOVED_CALL("GLIBC_2.30", sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* end),
                  (semaphore, clock, end), semaphore,
                  return take(*ranks, semaphore, time_until(clock, *end)) ? 0 : fails_with(ETIMEDOUT))
KUMIKI_MOVED_CALL("GLIBC_2.2.5", sem_post, (sem_t * semaphore), (semaphore), semaphore, return post(*ranks, semaphore))
KUMIKI_MOVED_CALL("GLIBC_2.2.5", sem_getvalue, (sem_t * semaphore, int* value), (semaphore, value), semaphore,
                  *value = static_cast<int>(ranks->look(word_of(semaphore)));
                  return 0)

KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_barrier_init,
                  (pthread_barrier_t * barrier, const pthread_barrierattr_t* wanted, unsigned threads),
                  (barrier, wanted, threads), barrier, return make(barrier, threads))
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier), barrier,
                  return meet(*ranks, barrier_of(barrier)))
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_barrier_destroy, (pthread_barrier_t * barrier), (barrier), barrier, return 0)
