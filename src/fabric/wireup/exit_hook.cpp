#include "fabric/wireup/exit_hook.hpp"

#include <cstdlib>
#include <mutex>
#include <ranges>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kumiki::fabric {
namespace {

struct ExitHook {
    pid_t process; ///< the process that added the hook
    std::function<void(int code)> call;
};

/// The hooks belong to the whole process, as its exit does; hence the only global variable of this layer.
struct ExitHooks {
    std::mutex mutex;
    std::vector<ExitHook> all;
};

void call_all(int status, void* pointer) {
    for (const ExitHook& hook : static_cast<ExitHooks*>(pointer)->all | std::views::reverse)
        if (getpid() == hook.process) hook.call(status);
}

/// Never destroyed, because the hooks run after everything else has been destroyed.
ExitHooks& exit_hooks() {
    static ExitHooks* const made = [] {
        auto* hooks = new ExitHooks;
        static_cast<void>(on_exit(call_all, hooks));
        return hooks;
    }();
    return *made;
}

/// The C library calls exit handlers in reverse order of registration, so this one is registered before main to run
/// last. An MPI library may use the connection at exit (MPICH 5 ends it then, and fails if Kumiki has closed it).
[[maybe_unused]] const ExitHooks& registered_before_main = exit_hooks();

} // namespace

void at_process_exit(std::function<void(int code)> hook) {
    const std::lock_guard lock(exit_hooks().mutex);
    exit_hooks().all.push_back({getpid(), std::move(hook)});
}

} // namespace kumiki::fabric
