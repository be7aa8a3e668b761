#pragma once

#include <functional>

namespace kumiki::fabric {

/// Has `hook` called with the exit code when this process ends by itself: a process manager takes a rank that ends
/// without telling it for one that has failed. This is not done when the rank leaves the job, because an MPI library
/// may use the same connection until the end of the process, and nobody can know whether one will. Hooks are called
/// after what the program itself does at exit, the last one that was added first. Child processes, which inherit the
/// hooks, do not call them.
void at_process_exit(std::function<void(int code)> hook);

} // namespace kumiki::fabric
