#pragma once

#include <vector>

#include "launch/hosts.hpp"
#include "launch/options.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// Reads the hosts that the options name, and deals the ranks. Failures are the user's mistakes.
Result<std::vector<Share>> shares_of(const Options& options);

/// Runs the job over these hosts and returns the launcher's exit code.
int run_on_hosts(const Options& options, const Settings& settings, const std::vector<Share>& shares);

} // namespace kumiki::launch
