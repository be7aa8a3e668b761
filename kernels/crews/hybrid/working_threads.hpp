#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// How many threads of this rank compute: all that the launcher gives it; but if the job has more threads than the host
/// has cores, only as many as the rank's share of the cores, at least 1, because more would only take turns and refill
/// each other's caches. `all` requests all of them nevertheless. The number is the same at every rank, because work is
/// divided by it: hosts may be unequal, and the one with the fewest cores decides. Collective.
inline int working_threads(Job& job, bool all) {
    if (all) return job.all_reduce(job.threads(), Operation::min);
    // Ranks of one host are those whose memory is accessible.
    const auto probe = job.allocate<std::byte>(1);
    int ranks_here = 0;
    for (int rank = 0; rank < job.size(); ++rank)
        if (!probe.at(rank).empty()) ++ranks_here;
    const int share = static_cast<int>(std::thread::hardware_concurrency()) / std::max(ranks_here, 1);
    const int own = job.oversubscribed() ? std::clamp(share, 1, job.threads()) : job.threads();
    return job.all_reduce(own, Operation::min);
}

} // namespace kumiki::kernels
