#pragma once

#include <string>

#include "error/result.hpp"
#include "launch/command/options.hpp"

namespace kumiki::launch {

/// Prepares a job with --openmp: its program is to run on Kumiki's OpenMP runtime instead of libgomp. Adds the variable
/// by which the dynamic linker loads the runtime first. Fails with a sentence if the job has several ranks or names
/// hosts, or if the program does not use libgomp.so.1, which is found by reading the program and by asking its dynamic
/// linker for its libraries; the program itself is not run.
Result<> prepare_openmp(Options& options, int ranks);

} // namespace kumiki::launch
