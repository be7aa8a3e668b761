#pragma once

#include <span>
#include <sys/types.h>
#include <vector>

namespace kumiki::launch {

/// All living processes below this one, as far as /proc shows them.
std::vector<pid_t> descendants();

/// Sends `signal` to each of them; processes that have already ended do not matter.
void send(std::span<const pid_t> processes, int signal);

/// Kills and reaps all processes below this one, which must be a subreaper. Returns the processes that do not die
/// within some seconds, because they belong to another user or are stuck in the kernel.
std::vector<pid_t> end_descendants();

} // namespace kumiki::launch
