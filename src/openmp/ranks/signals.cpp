#include <csignal>
#include <dlfcn.h>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/malloc.hpp"

/// The signals by which the runtime learns of faults and of atomic instructions stay with it: the program and the
/// library of Fortran, which would only print where the program has failed, are told that they have them.
namespace {

using Action = struct sigaction;

bool is_kept(int signal, const void* caller) {
    return (signal == SIGSEGV || signal == SIGBUS || signal == SIGTRAP || signal == SIGSYS) &&
           kumiki::openmp::is_program(caller);
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

KUMIKI_ENTRY int sigaction(int signal, const Action* action, Action* before) {
    static const auto real = next<int (*)(int, const Action*, Action*)>("sigaction");
    const bool kept = action != nullptr && is_kept(signal, __builtin_return_address(0));
    if (!kept) return real(signal, action, before);
    if (before != nullptr) *before = Action{};
    return 0;
}

KUMIKI_ENTRY sighandler_t signal(int number, sighandler_t handler) {
    static const auto real = next<sighandler_t (*)(int, sighandler_t)>("signal");
    return is_kept(number, __builtin_return_address(0)) ? SIG_DFL : real(number, handler);
}
