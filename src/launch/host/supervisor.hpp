#pragma once

#include <optional>

#include "launch/command/job.hpp"
#include "launch/protocol/channel.hpp"

namespace kumiki::launch {

/// Runs the job on this host and returns the launcher's exit code. This process becomes the supervisor, the parent of
/// the host daemon: it passes signals on to the host daemon, and ends what is left if the host daemon is killed. `argv`
/// is main's own; the host daemon writes its own name there. With a channel, the job is one host's share of a job over
/// several hosts, and the controller is at the other end of the channel.
int run(const Job& job, char** argv, std::optional<Channel> channel = {});

} // namespace kumiki::launch
