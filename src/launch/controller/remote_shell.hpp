#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "error/result.hpp"
#include "platform/descriptor.hpp"
#include "launch/system/this_process.hpp"

namespace kumiki::launch {

/// A running remote shell (ssh or the like): the process that reaches a host and carries the channel to the host daemon
/// there.
struct RemoteShell {
    pid_t process = 0; ///< leads a session of its own: it gets signals from the controller, none from the terminal
    platform::Descriptor input;  ///< to its standard input
    platform::Descriptor output; ///< from its standard output
    platform::Descriptor errors; ///< from its standard error
};

/// Starts the command. The kernel kills it when this process dies.
Result<RemoteShell> start_remote_shell(std::vector<std::string> command, const InheritedState& inherited);

/// How a remote shell ended.
struct RemoteShellEnd {
    bool gone = false;         ///< false: it does not die, because it belongs to another user or is stuck in the kernel
    std::optional<int> status; ///< its wait status if it ended by itself
};

/// Waits for a remote shell to end, and after `patience` kills it and its process group. Meanwhile it calls `meanwhile`
/// repeatedly, because a remote shell may wait until its last output is read.
RemoteShellEnd end_remote_shell(pid_t shell, std::chrono::milliseconds patience,
                                const std::function<void()>& meanwhile);

/// "ended with code 255" or "was killed by signal 9 (Killed)".
std::string how_it_ended(int status);

} // namespace kumiki::launch
