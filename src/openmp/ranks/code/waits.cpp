#include <cerrno>
#include <ctime>
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/next_function.hpp"

/// The functions with which a program gives up the processor while it waits for another thread, in a loop that looks at
/// a variable: each of them lets the threads of all ranks see what the others have written (as SpinLoops does for loops
/// that call nothing).
namespace {

using kumiki::openmp::Ranks;

/// Null: the call is none of the program's, or there are no other ranks.
Ranks* ranks_for(const void* caller) {
    return kumiki::openmp::is_program(caller) ? static_cast<Ranks*>(kumiki::openmp::process().others()) : nullptr;
}

/// Calls a function that sleeps. Before it, other threads learn what this thread has written; after it, this thread
/// sees what they have written meanwhile.
template <class Sleep>
auto sleep_by(const void* caller, Sleep sleep) {
    Ranks* const ranks = ranks_for(caller);
    if (ranks != nullptr) ranks->flush();
    const auto result = sleep();
    const int error = errno;
    if (ranks != nullptr) ranks->flush();
    errno = error;
    return result;
}

/// The same for one that gives the kernel times of the program, whose pages the kernel does not fetch: it gets copies.
template <class Sleep>
int sleep_by(const void* caller, const timespec* time, timespec* left, Sleep sleep) {
    if (time == nullptr) return sleep(time, left);
    const timespec copy = *time;
    timespec rest = left != nullptr ? *left : timespec{};
    const int result = sleep_by(caller, [&] { return sleep(&copy, left != nullptr ? &rest : nullptr); });
    if (left != nullptr && result != 0) *left = rest;
    return result;
}

} // namespace

KUMIKI_ENTRY int sched_yield() {
    static auto* const real = kumiki::platform::next_function(&sched_yield, "sched_yield");
    if (Ranks* const ranks = ranks_for(__builtin_return_address(0))) ranks->look_again(nullptr, nullptr);
    return real();
}

KUMIKI_ENTRY void thrd_yield() {
    static auto* const real = kumiki::platform::next_function(&thrd_yield, "thrd_yield");
    if (Ranks* const ranks = ranks_for(__builtin_return_address(0))) ranks->look_again(nullptr, nullptr);
    real();
}

KUMIKI_ENTRY int thrd_sleep(const timespec* time, timespec* left) {
    static auto* const real = kumiki::platform::next_function(&thrd_sleep, "thrd_sleep");
    return sleep_by(__builtin_return_address(0), time, left, real);
}

KUMIKI_ENTRY unsigned sleep(unsigned seconds) {
    static auto* const real = kumiki::platform::next_function(&sleep, "sleep");
    return sleep_by(__builtin_return_address(0), [=] { return real(seconds); });
}

KUMIKI_ENTRY int usleep(useconds_t microseconds) {
    static auto* const real = kumiki::platform::next_function(&usleep, "usleep");
    return sleep_by(__builtin_return_address(0), [=] { return real(microseconds); });
}

KUMIKI_ENTRY int nanosleep(const timespec* time, timespec* left) {
    static auto* const real = kumiki::platform::next_function(&nanosleep, "nanosleep");
    return sleep_by(__builtin_return_address(0), time, left, real);
}

KUMIKI_ENTRY int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
    static auto* const real = kumiki::platform::next_function(&clock_nanosleep, "clock_nanosleep");
    return sleep_by(__builtin_return_address(0), time, left,
                    [=](const timespec* copy, timespec* rest) { return real(clock, flags, copy, rest); });
}
