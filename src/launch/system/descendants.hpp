#pragma once

#include <span>
#include <sys/types.h>
#include <vector>

namespace kumiki::launch {

/// All living processes below this one, as far as /proc shows them.
std::vector<pid_t> descendants();

/// Sends `signal` to each; processes that are gone already do not matter.
void send(std::span<const pid_t> processes, int signal);

/// Kills and reaps everything below this process, which must be a subreaper, until nothing is left. Returns the
/// processes that do not die within some seconds: those of another user, or stuck in the kernel.
std::vector<pid_t> end_descendants();

} // namespace kumiki::launch
