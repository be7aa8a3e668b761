#pragma once

#include "kernels/common/red_black.hpp"

namespace kumiki::kernels::laplace_sor {

/// Moves every point of a line by `relaxation` times the way to the mean of its neighbours: the inner kernel of every
/// form. Returns how far the point that changed most did.
double relax(const ColouredLine& line, double relaxation);

} // namespace kumiki::kernels::laplace_sor
