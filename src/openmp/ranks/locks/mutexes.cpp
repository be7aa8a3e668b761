// Mutexes and condition variables of the program (also those of C++ and of C's threads.h) in memory that all
// processes see. A mutex is a lock of the program, in its first word; a condition variable counts in its first word how
// often it was signalled.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include "openmp/ranks/locks/object_calls.hpp"

namespace {

using kumiki::openmp::Ranks;
using kumiki::openmp::time_until;

/// A mutex as it lies in the C library's object, of which only zeros and the kind are used otherwise.
class Mutex {
public:
    Mutex(Ranks& ranks, pthread_mutex_t& object) : ranks_(ranks), data_(object.__data) {}

    void enter() {
        if (enters_again()) return;
        ranks_.enter(word());
        begin();
    }
    bool try_enter() {
        if (enters_again()) return true;
        if (!ranks_.try_enter(word())) return false;
        begin();
        return true;
    }
    /// Returns whether it has.
    bool enter_within(std::chrono::nanoseconds most) {
        const auto begin = std::chrono::steady_clock::now();
        while (!try_enter())
            if (std::chrono::steady_clock::now() - begin >= most) return false;
        return true;
    }
    void leave() {
        if (is_recursive() && --data_.__count != 0) return;
        owner().store(0, std::memory_order_relaxed);
        ranks_.leave(word());
    }
    void forget() { ranks_.forget(word()); }

private:
    std::uint32_t& word() { return reinterpret_cast<std::uint32_t&>(data_.__lock); }
    /// Relaxed: only the owner itself finds its own number there.
    std::atomic_ref<int> owner() { return std::atomic_ref(data_.__owner); }
    bool is_recursive() const { return (data_.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP; }
    /// Different at all ranks: a number of a thread has at most 22 bits.
    int me() const { return ranks_.rank() << 22 ^ gettid(); }
    bool enters_again() {
        if (!is_recursive() || owner().load(std::memory_order_relaxed) != me()) return false;
        ++data_.__count;
        return true;
    }
    void begin() {
        if (!is_recursive()) return;
        owner().store(me(), std::memory_order_relaxed);
        data_.__count = 1;
    }

    Ranks& ranks_;
    __pthread_mutex_s& data_;
};

/// Signals that come while nobody waits may wake a thread that waits later: it looks at its condition in any case.
std::uint32_t& count_of(pthread_cond_t* condition) { return *reinterpret_cast<std::uint32_t*>(condition); }

/// As pthread_cond_init(), which is the C library's, has noted it in the object.
clockid_t clock_of(const pthread_cond_t& condition) {
    return (condition.__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/// Waits for a condition variable of this process alone, as one on the stack of a thread that the program or a library
/// has started itself, while the mutex is one that all processes see. The C library, which does not know such a mutex,
/// waits with one that nobody else knows, so that a signal may come too early for it. Therefore the wait is short: it
/// may end without a signal, and the program looks at its condition then. Returns whether the end has not come.
bool wait_for_own(pthread_cond_t* condition, pthread_mutex_t* mutex, std::optional<std::chrono::nanoseconds> most) {
    using std::chrono::nanoseconds;
    constexpr nanoseconds longest = std::chrono::milliseconds(1);
    static thread_local pthread_mutex_t nobodys = PTHREAD_MUTEX_INITIALIZER; // the stack may be one that all see
    timespec end{};
    clock_gettime(clock_of(*condition), &end);
    const auto then = nanoseconds(end.tv_nsec) + std::clamp(most.value_or(longest), nanoseconds::zero(), longest);
    end.tv_sec += then / std::chrono::seconds(1);
    end.tv_nsec = (then % std::chrono::seconds(1)).count();
    pthread_mutex_lock(&nobodys);
    pthread_mutex_unlock(mutex);
    pthread_cond_timedwait(condition, &nobodys, &end);
    pthread_mutex_unlock(&nobodys);
    pthread_mutex_lock(mutex);
    return !most || *most > longest;
}

/// Waits without the mutex until the condition variable is signalled, or until the end; returns whether it was. The
/// mutex may be the C library's: on the stack of a thread that the program has started itself. (The functions that are
/// called here are those below, which know that.)
bool wait_for(Ranks& ranks, pthread_cond_t* condition, pthread_mutex_t* mutex,
              std::optional<std::chrono::nanoseconds> most) {
    if (!ranks.is_shared(condition)) return wait_for_own(condition, mutex, most);
    const std::uint32_t seen = ranks.look(count_of(condition));
    pthread_mutex_unlock(mutex);
    const bool signalled = ranks.await(count_of(condition), most, [&](std::uint32_t& count) { return count != seen; });
    pthread_mutex_lock(mutex);
    return signalled;
}

int wait_until(Ranks& ranks, pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec& end) {
    return wait_for(ranks, condition, mutex, time_until(clock, end)) ? 0 : ETIMEDOUT;
}

/// Of a condition variable and its mutex one that all processes see, if there is one.
const void* shared_one(const void* condition, const void* mutex) {
    return kumiki::openmp::ranks_of(condition) != nullptr ? condition : mutex;
}

void signal_all(Ranks& ranks, pthread_cond_t* condition) {
    ranks.change(count_of(condition), [](std::uint32_t& count) { ++count; });
}

// C has other names for the same objects, and other numbers for what happens.
pthread_mutex_t* of(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* of(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }
int in_c(bool in_time) { return in_time ? thrd_success : thrd_timedout; }

} // namespace

KUMIKI_OBJECT_CALL(pthread_mutex_lock, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), mutex,
                   Mutex(*ranks, *mutex).enter();
                   return 0)
KUMIKI_OBJECT_CALL(pthread_mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex), mutex,
                   Mutex(*ranks, *mutex).leave();
                   return 0)
KUMIKI_OBJECT_CALL(pthread_mutex_destroy, pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex), mutex,
                   Mutex(*ranks, *mutex).forget();
                   return after(mutex))
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), mutex,
                  return Mutex(*ranks, *mutex).try_enter() ? 0 : EBUSY)
KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* end), (mutex, end),
                  mutex, return Mutex(*ranks, *mutex).enter_within(time_until(CLOCK_REALTIME, *end)) ? 0 : ETIMEDOUT)
KUMIKI_MOVED_CALL("GLIBC_2.30", pthread_mutex_clocklock,
                  (pthread_mutex_t * mutex, clockid_t clock, const timespec* end), (mutex, clock, end), mutex,
                  return Mutex(*ranks, *mutex).enter_within(time_until(clock, *end)) ? 0 : ETIMEDOUT)

KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_wait, pthread_cond_wait,
                      (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex),
                      shared_one(condition, mutex), wait_for(*ranks, condition, mutex, {});
                      return 0)
KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_timedwait, pthread_cond_timedwait,
                      (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* end),
                      (condition, mutex, end), shared_one(condition, mutex),
                      return wait_until(*ranks, condition, mutex, clock_of(*condition), *end))
KUMIKI_MOVED_CALL("GLIBC_2.30", pthread_cond_clockwait,
                  (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* end),
                  (condition, mutex, clock, end), shared_one(condition, mutex),
                  return wait_until(*ranks, condition, mutex, clock, *end))
KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_signal, pthread_cond_signal, (pthread_cond_t * condition), (condition),
                      condition, signal_all(*ranks, condition);
                      return 0)
KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_broadcast, pthread_cond_broadcast, (pthread_cond_t * condition),
                      (condition), condition, signal_all(*ranks, condition);
                      return 0)

KUMIKI_MOVED_CALL("GLIBC_2.28", mtx_lock, (mtx_t * mutex), (mutex), mutex, Mutex(*ranks, *of(mutex)).enter();
                  return thrd_success)
KUMIKI_MOVED_CALL("GLIBC_2.28", mtx_trylock, (mtx_t * mutex), (mutex), mutex,
                  return Mutex(*ranks, *of(mutex)).try_enter() ? thrd_success : thrd_busy)
KUMIKI_MOVED_CALL("GLIBC_2.28", mtx_timedlock, (mtx_t * mutex, const timespec* end), (mutex, end), mutex,
                  return in_c(Mutex(*ranks, *of(mutex)).enter_within(time_until(CLOCK_REALTIME, *end))))
KUMIKI_MOVED_CALL("GLIBC_2.28", mtx_unlock, (mtx_t * mutex), (mutex), mutex, Mutex(*ranks, *of(mutex)).leave();
                  return thrd_success)
KUMIKI_MOVED_CALL("GLIBC_2.28", cnd_wait, (cnd_t * condition, mtx_t* mutex), (condition, mutex),
                  shared_one(condition, mutex), return in_c(wait_for(*ranks, of(condition), of(mutex), {})))
KUMIKI_MOVED_CALL("GLIBC_2.28", cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* end),
                  (condition, mutex, end), shared_one(condition, mutex),
                  return in_c(wait_for(*ranks, of(condition), of(mutex), time_until(CLOCK_REALTIME, *end))))
KUMIKI_MOVED_CALL("GLIBC_2.28", cnd_signal, (cnd_t * condition), (condition), condition,
                  signal_all(*ranks, of(condition));
                  return thrd_success)
KUMIKI_MOVED_CALL("GLIBC_2.28", cnd_broadcast, (cnd_t * condition), (condition), condition,
                  signal_all(*ranks, of(condition));
                  return thrd_success)

KUMIKI_ENTRY void kumiki_mtx_destroy(mtx_t* mutex) {
    static auto* const after = kumiki::platform::next_function(&mtx_destroy, "mtx_destroy");
    Ranks* const ranks = kumiki::openmp::ranks_of(mutex);
    if (ranks != nullptr) Mutex(*ranks, *of(mutex)).forget();
    after(mutex);
}
__asm__(".symver kumiki_mtx_destroy, mtx_destroy@GLIBC_2.34, remove");
