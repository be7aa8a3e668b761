#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <thread>

#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// The processors of this host that this rank may use; without `--bind shared` the ranks of a job with more threads
/// than cores all may use the same ones.
inline int allowed_processors() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    return static_cast<int>(std::thread::hardware_concurrency()); // more processors than the set can hold
}

/// This rank's share of the processors of its host, on which `ranks_here` ranks run.
inline int share_of_processors(const Job& job, int ranks_here) {
    const auto bound = job.processors();
    if (!bound.empty()) return static_cast<int>(std::set(bound.begin(), bound.end()).size());
    return allowed_processors() / std::max(ranks_here, 1);
}

/// How many threads of this rank compute: all that the launcher gives it; but if the job has more threads than cores,
/// only as many as the rank's share of the processors that the job may use, at least 1, because more would only take
/// turns and refill each other's caches. `all` requests all of them nevertheless. The number is the same at every rank,
/// because work is divided by it: hosts may be unequal, and the one with the fewest processors decides. Collective.
inline int working_threads(Job& job, bool all) {
    if (all) return job.all_reduce(job.threads(), Operation::min);
    // Ranks of one host are those whose memory is accessible.
    const auto probe = job.allocate<std::byte>(1);
    int ranks_here = 0;
    for (int rank = 0; rank < job.size(); ++rank)
        if (!probe.at(rank).empty()) ++ranks_here;
    const int share = share_of_processors(job, ranks_here);
    const int own = job.oversubscribed() ? std::clamp(share, 1, job.threads()) : job.threads();
    return job.all_reduce(own, Operation::min);
}

} // namespace kumiki::kernels
