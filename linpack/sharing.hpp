#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "linpack/grid.hpp"
#include "linpack/speed.hpp"

namespace kumiki::linpack {

/// A choice of weights for the process columns, and why.
struct Sharing {
    std::vector<double> weights; ///< empty: equal
    double seconds = 0;          ///< what the model expects of the run
    std::vector<std::string> reasons;
};

/// What the sharing of the columns is decided for.
struct Sharers {
    std::size_t size, block;
    Grid grid;
    ColumnSpeeds speeds;
};

/// The time of a run by a model: in each step a process column updates its columns behind the panel, and the one that
/// has the next panel makes it by one thread, after its columns; the slowest decides.
double expected_seconds(const Sharers& sharers, std::span<const double> weights);

/// Weights in proportion to the speeds; or equal ones where the speeds are alike; or without the slowest columns where
/// the others are done sooner alone, because a slow rank delays everyone when it makes a panel.
Sharing share_columns(const Sharers& sharers);

} // namespace kumiki::linpack
