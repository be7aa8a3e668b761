#pragma once

#include <string>
#include <vector>

#include "topology/cores.hpp"

namespace kumiki::launch {

/// Where one rank runs. Both lists are empty when the rank is not bound.
struct RankPlace {
    std::vector<int> threads;    ///< for each thread its processor
    std::vector<int> processors; ///< all processors of the rank's cores
};

/// Where the ranks of a job run on this host.
struct Placement {
    std::vector<RankPlace> ranks;
    int sharing = 0; ///< number of ranks that share the cores, on this host and on others that are the same machine
    int budget = 1;  ///< cores that can be kept busy at a time
    bool crowded = false; ///< the job has more threads than that
    bool bound = false;   ///< each thread has a core of its own
    bool this_machine = true;
};

/// How many threads each rank gets when the user does not say: all cores, divided among the ranks.
int default_threads(const topology::UsableCores& usable, int ranks);

/// Gives each rank `threads` cores side by side, in the machine's order; a rank is kept inside one cache, memory node
/// or package (the nearest that works for all ranks) when there are enough cores for that. Without enough cores, or
/// with `bind` false, nothing is bound and the system's scheduler spreads the threads.
Placement place(const topology::UsableCores& usable, int ranks, int threads, bool bind);

/// Only the `count` ranks from `first` on: for a host that shares its cores with other hosts of the job.
Placement part(Placement placement, int first, int count);

/// The placement in sentences, for --verbose. `first_rank` is the number of its first rank in the job.
std::vector<std::string> describe(const Placement& placement, int threads, int first_rank = 0);

} // namespace kumiki::launch
