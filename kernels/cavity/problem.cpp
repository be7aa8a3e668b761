#include "kernels/cavity/problem.hpp"

#include <algorithm>

namespace kumiki::kernels::cavity {

double Problem::time_step() const { return 0.9 * std::min(spacing() * spacing() * reynolds / 4, 2.0 / reynolds); }

std::size_t Problem::most_steps() const { return static_cast<std::size_t>(100 / time_step()); }

} // namespace kumiki::kernels::cavity
