#pragma once

#include <optional>

#include "launch/protocol/channel.hpp"
#include "launch/command/job.hpp"

namespace kumiki::launch {

/// Runs the job on this host and returns the launcher's exit code. `argv` is main's own: the keeper gives itself
/// another name there. With a channel the job is a share of one over several hosts, whose front is at the other end.
int run(const Job& job, char** argv, std::optional<Channel> channel = {});

} // namespace kumiki::launch
