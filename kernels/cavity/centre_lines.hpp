#pragma once

#include <array>
#include <span>
#include <vector>

namespace kumiki::kernels::cavity {

/// The Reynolds numbers for which published tables are included here.
inline constexpr std::array published_reynolds{100, 400, 1000};

/// A velocity on one of the two centre lines, beside the one that Ghia, Ghia and Shin published (J. Comput. Phys. 48,
/// 1982, tables I and II; 129 x 129 points).
struct CentreVelocity {
    char component; ///< 'u', the velocity along x, on the line x = 1/2, at y = place; 'v' along y on y = 1/2, at x =
                    ///< place
    double place;
    double published, computed;
};

/// The velocities at all inner points of the tables, interpolated linearly between cells. `u` and `v` are those at the
/// centre of each cell that their line crosses; `reynolds` is one of published_reynolds.
std::vector<CentreVelocity> beside_published(std::span<const double> u, std::span<const double> v, int reynolds);

/// The largest deviation of a computed velocity from the published one; infinite if the flow has diverged.
double largest_deviation(std::span<const CentreVelocity> velocities);

} // namespace kumiki::kernels::cavity
