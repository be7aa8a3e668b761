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
    int rank = 0;                  ///< number in the job
    int size = 1;                  ///< its number of threads
    std::vector<int> threads;      ///< for each thread its processor; empty: the threads are not bound
    std::vector<int> processors;   ///< all processors of the rank's cores; empty: the rank may run anywhere
    std::vector<int> devices = {}; ///< the numbers of its accelerators
    Variables variables = {};      ///< by which the vendors' interfaces show the rank these devices and no others
};

/// Where the ranks of a job run on this host.
struct Placement {
    std::vector<RankPlace> ranks;
    int sharing = 0; ///< the number of ranks that share the cores, on this host and on others that are the same machine
    int budget = 1;  ///< cores that can be kept busy at a time
    bool crowded = false; ///< the job has more threads than that, or a rank has more threads than cores
    bool this_machine = true;
};

/// Fills in the threads of the ranks that do not request a number: as many as the cores that they request, or an equal
/// part of the `budget` that the others leave, but at least one.
void decide_threads(std::vector<RankRequest>& ranks, int budget);

/// The numbers of threads of these ranks, in order.
std::vector<int> threads_of(const std::vector<RankRequest>& ranks);

/// Assigns cores to each rank; the numbers of threads must be known. A rank that requests cores gets those. The other
/// ranks get adjacent cores out of the rest, in the machine's order: if there are enough cores, each thread gets its
/// own, and no rank crosses the border of a cache, memory node or package (the nearest kind for which this is possible
/// for all ranks). If there are too few cores, or with Binding::none, they are not bound, and the operating system
/// schedules their threads; with Binding::shared they share the cores evenly. Fails if a requested core does not exist,
/// or if two ranks request the same core without Binding::shared.
Result<Placement> place(const topology::UsableCores& usable, const std::vector<RankRequest>& ranks, Binding bind);

/// Assigns cores only to the `count` ranks from `first` on: for a host that shares its cores with other hosts of the
/// job.
Placement part(Placement placement, int first, int count);

/// A description of the placement, for --verbose.
std::vector<std::string> describe(const Placement& placement);

} // namespace kumiki::launch
