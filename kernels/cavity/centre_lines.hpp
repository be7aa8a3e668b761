#pragma once

#include <span>

namespace kumiki::kernels::cavity {

/// How far velocities on the centre lines lie from those that Ghia, Ghia and Shin published (1982, Re = 100, 129 x 129
/// points): the largest difference at any of their points, between cells by linear interpolation. `u` is the velocity
/// along x on the line x = 1/2, `v` the one along y on y = 1/2, both in the middle of each cell that the line crosses.
/// Infinite where a flow has blown up.
double deviation_from_published(std::span<const double> u, std::span<const double> v);

} // namespace kumiki::kernels::cavity
