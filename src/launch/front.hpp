#pragma once

#include "launch/job.hpp"

namespace kumiki::launch {

/// Runs the job and returns the launcher's exit code. `argv` is main's own: the keeper gives itself another name there.
int run(const Job& job, char** argv);

} // namespace kumiki::launch
