#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

#include "error/result.hpp"
#include "launch/descriptor.hpp"

namespace kumiki::launch {

/// A running agent: the process that reaches a host and carries a channel to the keeper there.
struct Agent {
    pid_t process = 0; ///< leader of a session of its own: the terminal's signals are the front's to pass on
    Descriptor input;  ///< to its standard input
    Descriptor output; ///< from its standard output
    Descriptor errors; ///< from its standard error
};

/// Starts the command with the signal mask `mask`. It is killed when this process dies.
Result<Agent> start_agent(std::vector<std::string> command, const sigset_t& mask);

/// Waits for an agent to end, and after `patience` kills it and its process group. Returns its wait status.
int end_agent(pid_t agent, std::chrono::milliseconds patience);

/// "ended with code 255" or "was killed by signal 9 (Killed)".
std::string end_of_agent(int status);

} // namespace kumiki::launch
