#include "kernels/laplace/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/laplace/block.hpp"

namespace kumiki::kernels::laplace {

namespace {

constexpr double most_cell_updates = 5e8;

} // namespace

std::size_t checked_iterations(const Problem& problem) {
    const auto affordable = static_cast<std::size_t>(most_cell_updates / problem.cells());
    return std::clamp<std::size_t>(affordable, 1, problem.iterations);
}

Reference compute_reference(const Problem& problem) {
    Block grid(problem, {0, problem.size});
    const double error_before = std::sqrt(grid.squared_error());
    const std::size_t iterations = checked_iterations(problem);
    for (std::size_t step = 0; step < iterations; ++step) grid.relax();
    const double error_after = std::sqrt(grid.squared_error());
    // The Jacobi step is a symmetric matrix of spectral radius cos(pi / (size + 1)): it shrinks the Euclidean norm of
    // any error by at least that factor. Rounding adds some 1e-16 of the norm per step; the tolerance leaves room for
    // that, but not for a kernel that omits work.
    const double shrinkage =
        std::pow(std::cos(std::numbers::pi / static_cast<double>(problem.size + 1)), static_cast<double>(iterations));
    const double rounding = 1e-14 * std::sqrt(problem.cells());
    return {grid.checksum(), error_after <= shrinkage * error_before * (1 + 1e-12) + rounding};
}

} // namespace kumiki::kernels::laplace
