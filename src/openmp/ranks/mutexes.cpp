// Mutexes and condition variables of the program (also std::mutex and std::condition_variable) in memory that all
// processes see: those of the C library wake no thread of another process, and make no memory consistent. Here a mutex
// is a lock of the program, in its first word; a condition variable counts in its first word how often it was
// signalled. All others, those of libraries among them, stay the C library's.
#include <cerrno>
#include <chrono>
#include <pthread.h>
#include <unistd.h>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/malloc.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/next_function.hpp"

namespace {

using kumiki::openmp::Ranks;

/// Null: the object is the C library's.
Ranks* ranks_of(const void* object, const void* caller) {
    auto* const others = kumiki::openmp::process().others();
    if (others == nullptr || !kumiki::openmp::is_program(caller)) return nullptr;
    auto* const ranks = static_cast<Ranks*>(others);
    return ranks->is_shared(object) ? ranks : nullptr;
}

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

/// Waits without the mutex until the condition variable is signalled, or until the end; returns whether it was.
bool wait_for(Ranks& ranks, pthread_cond_t* condition, pthread_mutex_t* object,
              std::optional<std::chrono::nanoseconds> most) {
    Mutex mutex(ranks, *object);
    const std::uint32_t seen = ranks.look(count_of(condition));
    mutex.leave();
    const bool signalled = ranks.await_other(count_of(condition), seen, most);
    mutex.enter();
    return signalled;
}

int wait_until(Ranks& ranks, pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec& end) {
    timespec now{};
    clock_gettime(clock, &now);
    const auto most =
        std::chrono::seconds(end.tv_sec - now.tv_sec) + std::chrono::nanoseconds(end.tv_nsec - now.tv_nsec);
    return wait_for(ranks, condition, mutex, most) ? 0 : ETIMEDOUT;
}

void signal_all(Ranks& ranks, pthread_cond_t* condition) { ranks.count(count_of(condition)); }

} // namespace

// A function, its parameters, the names of these, the object, and what it does for one that all processes see.
#define KUMIKI_OBJECT_CALL(own_name, name, parameters, arguments, object, ...)                                         \
    KUMIKI_ENTRY int own_name parameters {                                                                             \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        Ranks* const ranks = ranks_of(object, __builtin_return_address(0));                                            \
        if (ranks == nullptr) return after arguments;                                                                  \
        if (ranks->has_left()) return 0; /* no other thread is left, either */                                         \
        __VA_ARGS__;                                                                                                   \
    }
#define KUMIKI_VERSIONED_CALL(version, own_name, name, ...)                                                            \
    KUMIKI_OBJECT_CALL(own_name, name, __VA_ARGS__)                                                                    \
    __asm__(".symver " #own_name ", " #name "@" version ", remove");

KUMIKI_OBJECT_CALL(pthread_mutex_lock, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), mutex,
                   Mutex(*ranks, *mutex).enter();
                   return 0)
KUMIKI_OBJECT_CALL(pthread_mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex), mutex,
                   Mutex(*ranks, *mutex).leave();
                   return 0)
KUMIKI_OBJECT_CALL(pthread_mutex_destroy, pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex), mutex,
                   Mutex(*ranks, *mutex).forget();
                   return after(mutex))
#define KUMIKI_TRYLOCK(own_name, version)                                                                              \
    KUMIKI_VERSIONED_CALL(version, own_name, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), mutex,         \
                          return Mutex(*ranks, *mutex).try_enter() ? 0 : EBUSY)
KUMIKI_TRYLOCK(kumiki_trylock, "GLIBC_2.34")
KUMIKI_TRYLOCK(kumiki_old_trylock, "GLIBC_2.2.5")

KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_wait, pthread_cond_wait,
                      (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex), condition,
                      wait_for(*ranks, condition, mutex, {});
                      return 0)
KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_timedwait, pthread_cond_timedwait,
                      (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* end),
                      (condition, mutex, end), condition,
                      return wait_until(*ranks, condition, mutex, CLOCK_REALTIME, *end))
#define KUMIKI_CLOCKWAIT(own_name, version)                                                                            \
    KUMIKI_VERSIONED_CALL(version, own_name, pthread_cond_clockwait,                                                   \
                          (pthread_cond_t * condition, pthread_mutex_t * mutex, clockid_t clock, const timespec* end), \
                          (condition, mutex, clock, end), condition,                                                   \
                          return wait_until(*ranks, condition, mutex, clock, *end))
KUMIKI_CLOCKWAIT(kumiki_clockwait, "GLIBC_2.34")
KUMIKI_CLOCKWAIT(kumiki_old_clockwait, "GLIBC_2.30")
KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_signal, pthread_cond_signal, (pthread_cond_t * condition), (condition),
                      condition, signal_all(*ranks, condition);
                      return 0)
KUMIKI_VERSIONED_CALL("GLIBC_2.3.2", kumiki_cond_broadcast, pthread_cond_broadcast, (pthread_cond_t * condition),
                      (condition), condition, signal_all(*ranks, condition);
                      return 0)
