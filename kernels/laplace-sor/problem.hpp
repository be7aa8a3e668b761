#pragma once

#include <cstddef>

namespace kumiki::kernels::laplace_sor {

/// Laplace's equation on the unit square, u = sin(pi x) on the edge y = 1 and 0 on the others, with the five-point
/// stencil, by red-black successive over-relaxation from u = 0 inside (F64).
///
/// The sine on the boundary is also an eigenmode of the differences. So their solution is known exactly, sin(pi x)
/// sinh(m y) / sinh(m) with sinh(m h / 2) = sin(pi h / 2), as well as that of the equation, where m is pi.
struct Problem {
    std::size_t size = 513; ///< points along an edge, including the boundary; at least 3

    std::size_t inner() const { return size - 2; }
    double spacing() const { return 1.0 / static_cast<double>(size - 1); }
    /// The factor of over-relaxation that needs the fewest sweeps: 2 / (1 + sqrt(1 - r^2)), where r = cos(pi h) is the
    /// spectral radius of Jacobi's method (Young). Each sweep then leaves a factor of about 1 - 2 pi h of the error.
    double relaxation() const;
    /// A sweep that changes no point by more than this ends the computation. The remaining error, some 1 / (2 pi h)
    /// times that, is then below that of the differences.
    double least_change() const { return 0.5 * spacing() * spacing() * spacing(); }
    /// Three times the expected number of sweeps.
    std::size_t most_sweeps() const { return 10 * size; }

    /// A point of the boundary or of a solution, by row (y) and column (x).
    double boundary(std::size_t row, std::size_t column) const;
    /// The solution along y, the factor of sin(pi x): of the differences, and of the equation.
    double difference_solution(std::size_t row) const;
    double exact_solution(std::size_t row) const;
    double sine(std::size_t column) const;

    /// The largest acceptable deviation of a computed value from the solution of the differences, and from that of the
    /// equation.
    double iteration_tolerance() const { return 0.25 * spacing() * spacing(); }
    double exact_tolerance() const { return spacing() * spacing(); }
};

} // namespace kumiki::kernels::laplace_sor
