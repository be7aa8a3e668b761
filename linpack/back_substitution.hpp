#pragma once

#include <vector>

#include "linpack/layout.hpp"
#include "linpack/local_matrix.hpp"

namespace kumiki::linpack {

/// Solves U x = y, with U and y as the factorisation left them. Collective over the ranks that take part; every one
/// gets the whole of x.
std::vector<double> back_substitute(Place& place, const Layout& layout, const LocalMatrix& matrix);

} // namespace kumiki::linpack
