#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "linpack/device_use.hpp"
#include "linpack/grid.hpp"
#include "linpack/routes.hpp"
#include "linpack/variant.hpp"

namespace kumiki::linpack {

/// What one run is about.
struct Parameters {
    std::size_t size = 0;
    std::size_t block = 0;
    Grid grid;
    Variant variant;
    std::vector<double> weights; ///< by process column; empty: equal
    double threshold = 0;        ///< the scaled residual must be below; 0 or less: it is not computed
    Travel travel;               ///< of panels and rows between hosts
    std::optional<DeviceUse> device = std::nullopt; ///< that shares the updates
    LookAhead look_ahead = LookAhead::tiles;
};

} // namespace kumiki::linpack
