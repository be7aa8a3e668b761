#pragma once

#include <cstddef>

namespace kumiki::kernels::laplace {

/// Laplace's equation on the unit square: size x size cells inside a fixed boundary, solved by `iterations` steps of
/// Jacobi from 0.
struct Problem {
    std::size_t size = 640;
    std::size_t iterations = 1000;

    /// The solution at row, column of the grid with its boundary (0 .. size + 1): y^2 - x^2. It is harmonic, and
    /// because it is quadratic the 5-point stencil reproduces it exactly; so the discrete solution is known too, and
    /// the boundary is its edge.
    double solution(std::size_t row, std::size_t column) const {
        const double step = 1.0 / static_cast<double>(size + 1);
        const double y = static_cast<double>(row) * step, x = static_cast<double>(column) * step;
        return (y - x) * (y + x);
    }
    double cells() const { return static_cast<double>(size) * static_cast<double>(size); }
};

} // namespace kumiki::kernels::laplace
