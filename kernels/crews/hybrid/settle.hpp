#pragma once

#include <span>

#include "kernels/common/job_report.hpp"
#include "kumiki/kumiki.hpp"

// The agreements of a Kumiki job's ranks after a run, as in MpiJob for the form `mpi`. Collective.

namespace kumiki::kernels {

/// Rank 0's decision, at every rank.
inline bool agreed(Job& job, bool mine) {
    job.broadcast(mine, 0);
    return mine;
}

/// Makes the job's times from the ranks'.
inline RunTimes largest(Job& job, RunTimes mine) {
    job.all_reduce(std::span<double>(mine.figures), Operation::max);
    return mine;
}

} // namespace kumiki::kernels
