#pragma once

#include <array>
#include <cstddef>

#include "kernels/common/aligned.hpp"
#include "kernels/himeno/problem.hpp"

namespace kumiki::kernels::himeno {

/// The number of columns in a cache line, which one pass of the inner loop computes.
inline constexpr std::size_t strip_columns = line_bytes / sizeof(float);
using Strip = std::array<float, strip_columns>;

/// The benchmark's twelve coefficient arrays at the columns of one strip, in the order in which the loop needs them, so
/// that it reads memory from one end to the other, in one stream instead of twelve.
struct alignas(line_bytes) Coefficients {
    std::array<Strip, 4> a;
    std::array<Strip, 3> b, c;
    Strip wrk1, bnd;
};

/// The old pressures around a row, named by plane (north, here, south) and row (west, middle, east) of the nine rows.
struct Surroundings {
    const float *north_west, *north, *north_east;
    const float *west, *middle, *east;
    const float *south_west, *south, *south_east;
};

/// One row of a sweep, the inner kernel of every form: `strips` strips of new pressures from old ones. Returns the
/// row's part of gosa. `next` may be the row north_west or south_east of it (each value is read before it is written),
/// but must not overlap the others.
double relax_row(float* next, const Surroundings& p, const Coefficients* coefficients, std::size_t strips);

} // namespace kumiki::kernels::himeno
