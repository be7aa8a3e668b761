#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "error/result.hpp"
#include "launch/system/descriptor.hpp"
#include "launch/system/this_process.hpp"

namespace kumiki::launch {

/// A running agent: the process that reaches a host and carries a channel to the keeper there.
struct Agent {
    pid_t process = 0; ///< leader of a session of its own: the terminal's signals are the front's to pass on
    Descriptor input;  ///< to its standard input
    Descriptor output; ///< from its standard output
    Descriptor errors; ///< from its standard error
};

/// Starts the command. It is killed when this process dies.
Result<Agent> start_agent(std::vector<std::string> command, const Origin& origin);

/// How an agent ended.
struct AgentEnd {
    bool gone = false;         ///< false: a process of another user, or stuck in the kernel, that does not die
    std::optional<int> status; ///< its wait status, when it ended by itself
};

/// Waits for an agent to end, and after `patience` kills it and its process group. Calls `meanwhile` again and again:
/// an agent may wait for its last words to be read.
AgentEnd end_agent(pid_t agent, std::chrono::milliseconds patience, const std::function<void()>& meanwhile);

/// "ended with code 255" or "was killed by signal 9 (Killed)".
std::string end_of_agent(int status);

} // namespace kumiki::launch
