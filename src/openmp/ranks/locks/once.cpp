// What is initialised once: static variables of functions in C++, and what pthread_once() and call_once() of C and C++
// call, in memory that all processes see. The libraries' functions change such words in their own code, in which the
// processor's atomic instructions work within a process only: each process would initialise the variable.
#include <cstdint>
#include <cxxabi.h>
#include <pthread.h>
#include <threads.h>
#include <unordered_set>

#include "openmp/ranks/locks/object_calls.hpp"
#include "platform/per_thread.hpp"

namespace {

using kumiki::openmp::Ranks;

/// The values of a word of pthread_once().
enum State : std::uint32_t { untouched, running, done };

/// Returns whether the calling thread is to initialise it. If not, it sees what the initialisation has written.
bool begins(Ranks& ranks, std::uint32_t& state) {
    bool mine = false;
    ranks.await(state, {}, [&](std::uint32_t& now) {
        if (now == running) return false;
        mine = now == untouched;
        if (mine) now = running;
        return true;
    });
    return mine;
}

/// One that the calling thread has begun. It may end by an exception, which is not caught here: that would be the
/// matter of the program's C++ library, and this one contains another.
class Initialization {
public:
    Initialization(Ranks& ranks, std::uint32_t& state) : ranks_(ranks), state_(state) {}
    Initialization(const Initialization&) = delete;
    Initialization& operator=(const Initialization&) = delete;
    ~Initialization() {
        ranks_.change(state_, [this](std::uint32_t& now) { now = after_; });
    }
    void succeeded() { after_ = done; }

private:
    Ranks& ranks_;
    std::uint32_t& state_;
    State after_ = untouched;
};

/// What this thread has seen initialised. It needs no lock to see it again.
kumiki::platform::PerThread<std::unordered_set<const void*>> seen;

/// The guard of a static variable: the compiler looks at the first byte (Itanium C++ ABI, 3.3.3), and does not call
/// these functions if it is 1. A thread that only looks there may see old memory instead of what the initialisation has
/// written, so it is 1 as soon as all ranks have met since.
struct Guard {
    std::uint8_t is_initialized;
    std::uint32_t state;
};
static_assert(sizeof(Guard) == sizeof(__cxxabiv1::__guard));

Guard& guard_of(__cxxabiv1::__guard* guard) { return *reinterpret_cast<Guard*>(guard); }

int call_once(Ranks& ranks, pthread_once_t* control, void (*function)()) {
    auto& state = *reinterpret_cast<std::uint32_t*>(control);
    // Other memory may be a word for pthread_once() at the same address later.
    if (state == done && seen.mine().contains(control)) return 0;
    if (begins(ranks, state)) {
        Initialization now(ranks, state);
        function();
        now.succeeded();
    }
    seen.mine().insert(control);
    return 0;
}

} // namespace

KUMIKI_MOVED_CALL("GLIBC_2.2.5", pthread_once, (pthread_once_t * control, void (*function)()), (control, function),
                  control, return call_once(*ranks, control, function))

// The same in C.
#define KUMIKI_CALL_ONCE(own_name, version)                                                                            \
    KUMIKI_ENTRY void own_name(once_flag* flag, void (*function)()) {                                                  \
        static auto* const after = kumiki::platform::next_function(&::call_once, "call_once");                         \
        Ranks* const ranks = kumiki::openmp::ranks_of(flag);                                                           \
        if (ranks == nullptr) after(flag, function);                                                                   \
        else call_once(*ranks, reinterpret_cast<pthread_once_t*>(flag), function);                                     \
    }                                                                                                                  \
    __asm__(".symver " #own_name ", call_once@" version ", remove");
KUMIKI_CALL_ONCE(kumiki_call_once, "GLIBC_2.34")
KUMIKI_CALL_ONCE(kumiki_old_call_once, "GLIBC_2.28")

// Of other objects the functions that this library contains do the same as those of the C++ library. (So these have
// other names here.)

KUMIKI_ENTRY int kumiki_guard_acquire(__cxxabiv1::__guard* guard) {
    Ranks* const ranks = kumiki::openmp::ranks_of(guard);
    if (ranks == nullptr) return __cxxabiv1::__cxa_guard_acquire(guard);
    if (seen.mine().contains(guard)) return 0;
    if (begins(*ranks, guard_of(guard).state)) return 1;
    seen.mine().insert(guard);
    return 0;
}

KUMIKI_ENTRY void kumiki_guard_release(__cxxabiv1::__guard* guard) {
    Ranks* const ranks = kumiki::openmp::ranks_of(guard);
    if (ranks == nullptr) return __cxxabiv1::__cxa_guard_release(guard);
    ranks->change(guard_of(guard).state, [](std::uint32_t& state) { state = done; });
    seen.mine().insert(guard);
    ranks->set_when_met(guard_of(guard).is_initialized);
}

KUMIKI_ENTRY void kumiki_guard_abort(__cxxabiv1::__guard* guard) {
    Ranks* const ranks = kumiki::openmp::ranks_of(guard);
    if (ranks == nullptr) return __cxxabiv1::__cxa_guard_abort(guard);
    ranks->change(guard_of(guard).state, [](std::uint32_t& state) { state = untouched; });
}

__asm__(".symver kumiki_guard_acquire, __cxa_guard_acquire@CXXABI_1.3, remove");
__asm__(".symver kumiki_guard_release, __cxa_guard_release@CXXABI_1.3, remove");
__asm__(".symver kumiki_guard_abort, __cxa_guard_abort@CXXABI_1.3, remove");
