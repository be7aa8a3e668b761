#pragma once

#include <vector>

#include "error/result.hpp"
#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// Reads the hostfile and the rankfile that the options name, distributes the ranks over the hosts (or gives all of
/// them to this host, whose share has no host name), and determines the request for each rank: a line of the rankfile
/// takes precedence over one of the hostfile, and that over the settings. All failures are errors of the user.
Result<std::vector<Share>> shares_of(const Options& options, const Settings& settings);

} // namespace kumiki::launch
