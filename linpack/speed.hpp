#pragma once

#include <cstddef>
#include <vector>

#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// GFLOP/s of this rank's threads together, measured at all ranks at the same time, with products of the shape of an
/// update. Collective over the job.
double speed_of_rank(Job& job, std::size_t rows, std::size_t block);

/// The speed of each process column: GFLOP/s of DGEMM at the shape of an update, of all threads of a rank together; of
/// the slowest rank of the column, because its ranks have equal shares. Measured at all ranks at the same time, as they
/// will compute. Collective over the job; the same at every rank.
std::vector<double> column_speeds(Job& job, const Grid& grid, std::size_t size, std::size_t block);

} // namespace kumiki::linpack
