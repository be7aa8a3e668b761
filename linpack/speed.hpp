#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// GFLOP/s of this rank's threads together, measured at all ranks of the grid at the same time, with products of the
/// shape of an update; 0 at the others, which leave their processors to them. Collective over the job.
double speed_of_rank(Job& job, const Grid& grid, std::size_t rows, std::size_t block);

/// GFLOP/s of a rank in products of the shape of an update.
struct RankSpeed {
    double together; ///< of all that computes there: its threads, and its part of a device
    double alone;    ///< of what multiplies the columns of the next panel: one thread, or the device where they live
};

/// The same by process column: of its slowest rank, because its ranks have equal shares.
struct ColumnSpeeds {
    std::vector<double> together;
    std::vector<double> alone;

    /// `of_ranks`: by rank of the job.
    static ColumnSpeeds of(const Grid& grid, std::span<const RankSpeed> of_ranks);
};

/// Of the threads, measured at all ranks at the same time, as they will compute. Collective over the job; the same at
/// every rank.
ColumnSpeeds column_speeds(Job& job, const Grid& grid, std::size_t size, std::size_t block);

} // namespace kumiki::linpack
