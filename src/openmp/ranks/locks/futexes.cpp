// The system call by which programs wait for words of their memory, as std::atomic's wait() and the latches, barriers
// and semaphores of C++20 do: for a word that all processes see, the kernel would wake no thread of another process.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <ctime>
#include <linux/futex.h>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

#include "openmp/ranks/locks/object_calls.hpp"
#include "openmp/ranks/memory/malloc.hpp"

namespace {

using kumiki::openmp::Ranks;
using std::chrono::nanoseconds;

struct Call {
    std::uint32_t* word;
    int operation;
    std::uint32_t value;
    const timespec* time; ///< null: none

    int command() const { return operation & FUTEX_CMD_MASK; }
    bool waits() const { return command() == FUTEX_WAIT || command() == FUTEX_WAIT_BITSET; }
    bool wakes() const { return command() == FUTEX_WAKE || command() == FUTEX_WAKE_BITSET; }
    /// Nothing: for ever.
    std::optional<nanoseconds> most() const {
        if (time == nullptr) return {};
        if (command() == FUTEX_WAIT) return kumiki::openmp::duration(time->tv_sec, time->tv_nsec);
        // The other one says when it ends.
        const bool is_real = (operation & FUTEX_CLOCK_REALTIME) != 0;
        return kumiki::openmp::time_until(is_real ? CLOCK_REALTIME : CLOCK_MONOTONIC, *time);
    }
};

/// Null: the call is the kernel's.
Ranks* ranks_of(const Call& call, const void* caller) {
    auto* const ranks = static_cast<Ranks*>(kumiki::openmp::process().others());
    const bool ours = ranks != nullptr && kumiki::openmp::may_be_program(caller) && (call.waits() || call.wakes()) &&
                      ranks->is_shared(call.word) && !ranks->has_left();
    return ours ? ranks : nullptr;
}

long carry_out(Ranks& ranks, const Call& call) {
    if (call.wakes()) {
        ranks.wake();
        return 0; // how many, nobody knows
    }
    const int error = ranks.await_wake(*call.word, call.value, call.most());
    if (error == 0) return 0;
    errno = error;
    return -1;
}

} // namespace

/// While one thread initialises a static variable of a function, others wait for it by syscall(). So the variable here
/// is initialised by the compiler, and several threads may look up the C library's function.
KUMIKI_ENTRY long syscall(long number, ...) {
    static constinit std::atomic<decltype(&syscall)> found{nullptr};
    auto* after = found.load(std::memory_order_relaxed);
    if (after == nullptr) {
        after = kumiki::platform::next_function(&syscall, "syscall");
        found.store(after, std::memory_order_relaxed);
    }
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (long& each : arguments) each = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex) {
        const Call call{reinterpret_cast<std::uint32_t*>(arguments[0]), static_cast<int>(arguments[1]),
                        static_cast<std::uint32_t>(arguments[2]), reinterpret_cast<const timespec*>(arguments[3])};
        if (Ranks* const ranks = ranks_of(call, __builtin_return_address(0))) return carry_out(*ranks, call);
    }
    return after(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
