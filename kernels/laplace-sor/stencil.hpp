#pragma once

#include "kernels/common/red_black.hpp"

namespace kumiki::kernels::laplace_sor {

/// Moves every point of a line towards the mean of its neighbours, by `relaxation` times the difference: the inner
/// kernel of every form. Returns the largest change of a point.
double relax(const ColouredLine& line, double relaxation);

} // namespace kumiki::kernels::laplace_sor
