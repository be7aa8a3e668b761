#include <cstdint>
#include <cstdlib>
#include <new>

#include "openmp/entry/entry.hpp"
#include "openmp/team.hpp"

/// Entry points of locks. omp_lock_t has the size of Lock, and omp_nest_lock_t that of NestLock.
using namespace kumiki::openmp;

namespace {

/// A lock that its holder, a task, may take again.
struct NestLock {
    Lock lock;
    int depth;
    const Task* holder; ///< atomic accesses only: other tasks compare it with themselves

    void enter() {
        take([this] { return enter_lock(lock), true; });
    }
    int try_enter() {
        return take([this] { return try_lock(lock); }) ? depth : 0;
    }
    void leave() {
        if (--depth != 0) return;
        owner().store(nullptr, std::memory_order_relaxed);
        leave_lock(lock);
    }
    void reset() {
        lock.reset();
        depth = 0;
        holder = nullptr;
    }

private:
    /// The address of the task, which another one may have at another rank; so it is only compared.
    static const Task* this_task() {
        const OtherRanks* const others = process().others();
        const auto address = reinterpret_cast<std::uintptr_t>(self().task);
        return reinterpret_cast<const Task*>(
            others == nullptr ? address : address | static_cast<std::uintptr_t>(others->rank()) << 48);
    }
    std::atomic_ref<const Task*> owner() { return std::atomic_ref(holder); }
    /// Relaxed: only the holder itself finds its own address there.
    template <class Enter>
    bool take(Enter lock_it) {
        const Task* const me = this_task();
        if (owner().load(std::memory_order_relaxed) != me) {
            if (!lock_it()) return false;
            owner().store(me, std::memory_order_relaxed);
        }
        ++depth;
        return true;
    }
};
static_assert(sizeof(Lock) == 4 && sizeof(NestLock) == 16);

} // namespace

// Two versions of a function have names of their own in here, and the name that programs know by .symver.
#define KUMIKI_VERSION(own_name, name, version) __asm__(".symver " #own_name ", " #name "@" version ", remove")

// Functions of C and Fortran that get the address of a lock, in the version of GCC 4.4 and later.
#define KUMIKI_LOCK_ENTRY(result, name, type, call)                                                                    \
    KUMIKI_ENTRY result kumiki_##name(type* lock) { call; }                                                            \
    KUMIKI_VERSION(kumiki_##name, omp_##name, "@OMP_3.0")

// In Fortran, the variable of a nestable lock holds the address of the lock, which is made when it is initialised.
#define KUMIKI_INDIRECT_ENTRY(result, name, call)                                                                      \
    KUMIKI_ENTRY result kumiki_##name##_(NestLock** place) {                                                           \
        NestLock* const lock = *place;                                                                                 \
        call;                                                                                                          \
    }                                                                                                                  \
    KUMIKI_VERSION(kumiki_##name##_, omp_##name##_, "@OMP_3.0")

// Before GCC 4.4 the locks had the version OMP_1.0. The simple ones were the same, the nestable ones were smaller.
#define KUMIKI_OLD_LOCK(result, name, call)                                                                            \
    KUMIKI_ENTRY result kumiki_old_##name(Lock* lock) { call; }                                                        \
    KUMIKI_VERSION(kumiki_old_##name, omp_##name, "OMP_1.0");                                                          \
    KUMIKI_ENTRY result kumiki_old_##name##_(Lock* lock) { call; }                                                     \
    KUMIKI_VERSION(kumiki_old_##name##_, omp_##name##_, "OMP_1.0")

#define KUMIKI_SIMPLE_LOCK(result, name, call)                                                                         \
    KUMIKI_LOCK_ENTRY(result, name, Lock, call);                                                                       \
    KUMIKI_LOCK_ENTRY(result, name##_, Lock, call);                                                                    \
    KUMIKI_OLD_LOCK(result, name, call)

KUMIKI_SIMPLE_LOCK(void, init_lock, lock->reset());
KUMIKI_SIMPLE_LOCK(void, destroy_lock, destroy_lock(*lock));
KUMIKI_SIMPLE_LOCK(void, set_lock, enter_lock(*lock));
KUMIKI_SIMPLE_LOCK(void, unset_lock, leave_lock(*lock));
KUMIKI_SIMPLE_LOCK(int, test_lock, return try_lock(*lock) ? 1 : 0);

KUMIKI_LOCK_ENTRY(void, init_nest_lock, NestLock, lock->reset());
KUMIKI_LOCK_ENTRY(void, destroy_nest_lock, NestLock, destroy_lock(lock->lock));
KUMIKI_LOCK_ENTRY(void, set_nest_lock, NestLock, lock->enter());
KUMIKI_LOCK_ENTRY(void, unset_nest_lock, NestLock, lock->leave());
KUMIKI_LOCK_ENTRY(int, test_nest_lock, NestLock, return lock->try_enter());

KUMIKI_INDIRECT_ENTRY(void, init_nest_lock, static_cast<void>(lock);
                      *place = new (program_memory(sizeof(NestLock))) NestLock{});
KUMIKI_INDIRECT_ENTRY(void, destroy_nest_lock, destroy_lock(lock->lock); std::free(lock); *place = nullptr);
KUMIKI_INDIRECT_ENTRY(void, set_nest_lock, lock->enter());
KUMIKI_INDIRECT_ENTRY(void, unset_nest_lock, lock->leave());
KUMIKI_INDIRECT_ENTRY(int, test_nest_lock, return lock->try_enter());

namespace {
[[noreturn]] void refuse_old(const void*) {
    refuse("the program calls a nestable lock of the version OMP_1.0: build it again with GCC 4.4 or later");
}
} // namespace
KUMIKI_OLD_LOCK(void, init_nest_lock, refuse_old(lock));
KUMIKI_OLD_LOCK(void, destroy_nest_lock, refuse_old(lock));
KUMIKI_OLD_LOCK(void, set_nest_lock, refuse_old(lock));
KUMIKI_OLD_LOCK(void, unset_nest_lock, refuse_old(lock));
KUMIKI_OLD_LOCK(int, test_nest_lock, refuse_old(lock));
