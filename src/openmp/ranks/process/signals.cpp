#include "openmp/ranks/process/signals.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/memory/objects.hpp"
#include "platform/next_function.hpp"

/// The signals by which the runtime learns of faults and of atomic instructions stay with it: the program and its
/// libraries, whose handlers mostly print where the program has failed, are told that they have them. Nor can they be
/// blocked: the system would end the process at the next fault.
namespace {

using Action = struct sigaction;

constexpr int kept[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGSYS};

/// The code of this library, which installs its own handlers; found at the first call, when it does so.
bool is_own(const void* caller) {
    static const auto own = [] {
        for (const kumiki::openmp::Object& object : kumiki::openmp::loaded_objects())
            if (object.executes(reinterpret_cast<const void*>(&is_own))) return std::optional(object);
        return std::optional<kumiki::openmp::Object>();
    }();
    return own && own->executes(caller);
}

bool is_kept(int signal, const void* caller) {
    return std::ranges::find(kept, signal) != std::end(kept) && !is_own(caller);
}

sigset_t without_kept(sigset_t signals) {
    for (const int signal : kept) sigdelset(&signals, signal);
    return signals;
}

/// Whether the program has ever installed a handler. A variable of the process, as handlers belong to the process.
std::atomic<bool> has_handlers{false};
thread_local bool installs_last_handlers = false;

bool is_handler(sighandler_t handler) { return handler != SIG_DFL && handler != SIG_IGN; }

void note_handler(sighandler_t handler) {
    if (is_handler(handler) && !installs_last_handlers) has_handlers.store(true, std::memory_order_relaxed);
}

using SetMask = int (*)(int, const sigset_t*, sigset_t*);

/// The kernel gets copies of the program's sets, whose pages it does not fetch.
int set_mask(SetMask real, int how, const sigset_t* change, sigset_t* before) {
    const sigset_t possible = change != nullptr ? without_kept(*change) : sigset_t{};
    sigset_t found;
    const int result = real(how, change != nullptr ? &possible : nullptr, &found);
    if (result == 0 && before != nullptr) *before = found;
    return result;
}

} // namespace

namespace kumiki::openmp {

bool handles_signals() { return has_handlers.load(std::memory_order_relaxed); }

LastHandlers::LastHandlers() { installs_last_handlers = true; }

LastHandlers::~LastHandlers() { installs_last_handlers = false; }

SignalsLater::SignalsLater() {
    if (handles_signals()) blocked_.emplace();
}

sigset_t leave_signals_to_others() {
    const sigset_t blocked = platform::asynchronous_signals();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    return before;
}

} // namespace kumiki::openmp

KUMIKI_ENTRY int sigaction(int signal, const Action* action, Action* before) {
    static auto* const real =
        kumiki::platform::next_function<int(int, const Action*, Action*)>(&sigaction, "sigaction");
    const void* const caller = __builtin_return_address(0);
    if (action == nullptr || is_own(caller)) return real(signal, action, before);
    if (is_kept(signal, caller)) {
        if (before != nullptr) *before = Action{};
        return 0;
    }
    if (kumiki::openmp::is_program(caller)) note_handler(action->sa_handler);
    Action possible = *action;
    possible.sa_mask = without_kept(action->sa_mask);
    return real(signal, &possible, before);
}

// These are different functions by the standard for which the program was built. Those that set a handler by
// sigaction() within the C library do not come to ours.
#define KUMIKI_SIGNAL(name)                                                                                            \
    KUMIKI_ENTRY sighandler_t name(int number, sighandler_t handler) {                                                 \
        static auto* const real = kumiki::platform::next_function(&signal, #name);                                     \
        if (is_kept(number, __builtin_return_address(0))) return SIG_DFL;                                              \
        if (kumiki::openmp::is_program(__builtin_return_address(0))) note_handler(handler);                            \
        return real(number, handler);                                                                                  \
    }
KUMIKI_SIGNAL(signal)
KUMIKI_SIGNAL(__sysv_signal)
KUMIKI_SIGNAL(sysv_signal)
KUMIKI_SIGNAL(ssignal)
KUMIKI_SIGNAL(bsd_signal)
KUMIKI_SIGNAL(sigset)

KUMIKI_ENTRY int sigsuspend(const sigset_t* blocked) {
    static auto* const real = kumiki::platform::next_function(&sigsuspend, "sigsuspend");
    if (!kumiki::openmp::is_program(__builtin_return_address(0))) return real(blocked);
    const sigset_t possible = without_kept(*blocked);
    return real(&possible);
}

KUMIKI_ENTRY int sigprocmask(int how, const sigset_t* change, sigset_t* before) {
    static auto* const real = kumiki::platform::next_function(&sigprocmask, "sigprocmask");
    return set_mask(real, how, change, before);
}

// Programs that were linked with a C library before 2.32 ask for the older version.
#define KUMIKI_THREAD_MASK(own_name, version)                                                                          \
    KUMIKI_ENTRY int own_name(int how, const sigset_t* change, sigset_t* before) {                                     \
        static auto* const real = kumiki::platform::next_function(&pthread_sigmask, "pthread_sigmask");                \
        return set_mask(real, how, change, before);                                                                    \
    }                                                                                                                  \
    __asm__(".symver " #own_name ", pthread_sigmask@" version ", remove")

KUMIKI_THREAD_MASK(kumiki_thread_mask, "GLIBC_2.32");
KUMIKI_THREAD_MASK(kumiki_old_thread_mask, "GLIBC_2.2.5");
