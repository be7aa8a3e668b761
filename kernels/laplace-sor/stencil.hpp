#pragma once

#include "kernels/common/red_black.hpp"

namespace kumiki::kernels::laplace_sor {

/// Moves every point of half a row by `relaxation` times the way to the mean of its neighbours: the inner kernel of
/// every form. Returns how far the point that changed most did.
double relax(const HalfRow& row, double relaxation);

} // namespace kumiki::kernels::laplace_sor
