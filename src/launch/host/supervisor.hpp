#pragma once

#include <optional>

#include "launch/command/job.hpp"
#include "launch/protocol/channel.hpp"

namespace kumiki::launch {

/// Runs the job on this host and returns the launcher's exit code. This process becomes the supervisor: the parent of
/// the host daemon. It passes signals on to it, and ends what is left when the host daemon is killed. `argv` is main's
/// own: the host daemon writes its own name there. With a channel the job is a share of one over several hosts, and the
/// controller is at the other end.
int run(const Job& job, char** argv, std::optional<Channel> channel = {});

} // namespace kumiki::launch
