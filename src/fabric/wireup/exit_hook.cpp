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
    pid_t process; ///< that has added it
    std::function<void(int code)> call;
};

/// The hooks belong to the whole process, as its exit does: hence the one global of this floor.
struct ExitHooks {
    std::mutex mutex;
    std::vector<ExitHook> all;
};

void call_all(int status, void* pointer) {
    for (const ExitHook& hook : static_cast<ExitHooks*>(pointer)->all | std::views::reverse)
        if (getpid() == hook.process) hook.call(status);
}

/// Never destroyed, because the hooks are called after everything else has been.
ExitHooks& exit_hooks() {
    static ExitHooks* const made = [] {
        auto* hooks = new ExitHooks;
        static_cast<void>(on_exit(call_all, hooks));
        return hooks;
    }();
    return *made;
}

/// The C library calls last what was registered first, so that this is registered before main. An MPI library may use
/// the connection at exit (MPICH 5 ends it then, and does not survive that we have closed it).
[[maybe_unused]] const ExitHooks& registered_before_main = exit_hooks();

} // namespace

void at_process_exit(std::function<void(int code)> hook) {
    const std::lock_guard lock(exit_hooks().mutex);
    exit_hooks().all.push_back({getpid(), std::move(hook)});
}

} // namespace kumiki::fabric
