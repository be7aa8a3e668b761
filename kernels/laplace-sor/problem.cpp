#include "kernels/laplace-sor/problem.hpp"

#include <cmath>
#include <numbers>

namespace kumiki::kernels::laplace_sor {
namespace {

using std::numbers::pi;

double profile(double m, double y) { return std::sinh(m * y) / std::sinh(m); }

} // namespace

double Problem::relaxation() const { return 2 / (1 + std::sin(pi * spacing())); }

double Problem::sine(std::size_t column) const {
    const bool edge = column == 0 || column == size - 1;
    return edge ? 0 : std::sin(pi * static_cast<double>(column) * spacing());
}

double Problem::boundary(std::size_t row, std::size_t column) const { return row == size - 1 ? sine(column) : 0; }

double Problem::difference_solution(std::size_t row) const {
    const double m = 2 / spacing() * std::asinh(std::sin(pi * spacing() / 2));
    return profile(m, static_cast<double>(row) * spacing());
}

double Problem::exact_solution(std::size_t row) const { return profile(pi, static_cast<double>(row) * spacing()); }

} // namespace kumiki::kernels::laplace_sor
