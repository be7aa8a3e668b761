#pragma once

#include <functional>

namespace kumiki::fabric {

/// Calls `hook` with the exit code when this process exits by itself, because a process manager regards a rank that
/// ends without telling it as failed. This is not done when the rank leaves the job, because an MPI library may use the
/// same connection until the end of the process, and nobody can know whether one will. Hooks run after the program's
/// own exit handlers, in reverse order of their addition. Child processes, which inherit the hooks, do not call them.
void at_process_exit(std::function<void(int code)> hook);

} // namespace kumiki::fabric
