#pragma once

#include <vector>

#include "error/result.hpp"
#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// Reads the hostfile and the rankfile that the options name, deals the ranks over the hosts (or gives all of them to
/// this host, whose share has no host name), and writes down what is asked for each rank: a line of the rankfile counts
/// more than one of the hostfile, and that more than the settings. Failures are the user's mistakes.
Result<std::vector<Share>> shares_of(const Options& options, const Settings& settings);

} // namespace kumiki::launch
