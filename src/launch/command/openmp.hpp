#pragma once

#include "error/result.hpp"
#include "launch/command/options.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// Prepares a job with --openmp: its program is to run on Kumiki's OpenMP runtime instead of libgomp or libomp. Adds
/// the variables by which the dynamic linker loads the runtime first, and finds it for the names of LLVM's libraries.
/// If it is to run as several processes, each has a copy of its memory. Fails with a sentence if the program cannot, or
/// if it uses neither libgomp.so.1 nor libomp, which is found by reading the program and by asking its dynamic linker
/// for its libraries; the program itself is not run.
Result<> prepare_openmp(Options& options, const Settings& settings, int processes);

} // namespace kumiki::launch
