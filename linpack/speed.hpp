#pragma once

#include <cstddef>
#include <vector>

#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// GFLOP/s of this rank's threads together, measured at all ranks of the grid at the same time, with products of the
/// shape of an update; 0 at the others, which leave their processors to them. Collective over the job.
double speed_of_rank(Job& job, const Grid& grid, std::size_t rows, std::size_t block);

/// GFLOP/s of DGEMM at the shape of an update, by process column: of its slowest rank, because its ranks have equal
/// shares.
struct ColumnSpeeds {
    std::vector<double> together; ///< by all threads of that rank
    std::vector<double> alone;    ///< by one of them
};

/// Measured at all ranks at the same time, as they will compute. Collective over the job; the same at every rank.
ColumnSpeeds column_speeds(Job& job, const Grid& grid, std::size_t size, std::size_t block);

} // namespace kumiki::linpack
