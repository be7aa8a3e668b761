#pragma once

#include <string>
#include <vector>

#include "launch/command/options.hpp"
#include "launch/command/request.hpp"
#include "settings/settings.hpp"
#include "topology/cores.hpp"

namespace kumiki::launch {

/// Where one rank runs.
struct RankPlace {
    int rank = 0;                  ///< its number in the job
    int size = 1;                  ///< its number of threads
    std::vector<int> threads;      ///< for each thread its processor; empty: the threads are not bound
    std::vector<int> processors;   ///< all processors of the rank's cores; empty: the rank may run anywhere
    std::vector<int> devices = {}; ///< the numbers of its accelerators
    Variables variables = {};      ///< by which the vendors' interfaces show the rank these, and no others
};

/// Where the ranks of a job run on this host.
struct Placement {
    std::vector<RankPlace> ranks;
    int sharing = 0; ///< number of ranks that share the cores, on this host and on others that are the same machine
    int budget = 1;  ///< cores that can be kept busy at a time
    bool crowded = false; ///< the job has more threads than that, or some rank more threads than cores
    bool this_machine = true;
};

/// Fills in the threads of the ranks for which none are asked: as many as the cores that are asked for them, or an
/// equal part of what the others leave of the `budget`, at least one.
void decide_threads(std::vector<RankRequest>& ranks, int budget);

/// The numbers of threads of these ranks, in order.
std::vector<int> threads_of(const std::vector<RankRequest>& ranks);

/// Gives each rank its cores; the numbers of threads must have been decided. Ranks for which cores are asked get those.
/// The others get cores side by side, in the machine's order, out of the rest: each thread one of its own, and no rank
/// crosses the border of a cache, memory node or package (the nearest for which that works for all ranks) when there
/// are enough cores for that. Without enough cores, or with Binding::none, these are not bound and the system's
/// scheduler spreads their threads; with Binding::shared they share the cores evenly. Fails when a core that is asked
/// for does not exist, or when two ranks ask for the same one and Binding::shared does not allow it.
Result<Placement> place(const topology::UsableCores& usable, const std::vector<RankRequest>& ranks, Binding bind);

/// Only the `count` ranks from `first` on: for a host that shares its cores with other hosts of the job.
Placement part(Placement placement, int first, int count);

/// The placement in sentences, for --verbose.
std::vector<std::string> describe(const Placement& placement);

} // namespace kumiki::launch
