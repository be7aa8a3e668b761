#pragma once

#include "launch/command/hosts.hpp"
#include "launch/command/placement.hpp"

namespace kumiki::launch {

/// Makes the ranks of this host one process, with the threads of all of them and the processors and devices that they
/// would get (docs/decisions/openmp-processes.md). `placement` is that of the ranks of `share`. Unless the user binds
/// OpenMP's threads himself (`user_binds`), the threads of each rank stay on the rank's processors: OMP_PLACES has a
/// place for each thread, which is all processors of its rank.
void become_one_process(Share& share, Placement& placement, bool user_binds);

/// Makes the ranks of each host one process, in a job over several hosts, whose ranks are then as many as the hosts.
/// The process has the threads of all of them, anywhere on the processors that they would get.
void become_one_process_each(std::vector<Share>& shares);

/// Whether a variable by which users bind the threads of OpenMP is set.
bool binds_openmp_threads();

} // namespace kumiki::launch
