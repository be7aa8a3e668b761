#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace kumiki::kernels::himeno {

/// A size of the Himeno benchmark: the pressure Poisson equation of an incompressible flow in generalised coordinates,
/// on planes x rows x columns points, including the boundary, by Jacobi's method in single precision (Himeno, RIKEN;
/// F61). Planes are the farthest apart in memory; columns are adjacent.
struct Problem {
    std::string_view name;
    std::size_t planes, rows, columns;

    static constexpr float relaxation = 0.8F;        ///< the benchmark's omega
    static constexpr double operations_a_point = 34; ///< floating-point operations, as the benchmark counts them

    /// The points that a sweep computes.
    double points() const {
        return static_cast<double>(planes - 2) * static_cast<double>(rows - 2) * static_cast<double>(columns - 2);
    }
    /// The pressure at the start; on the boundary it does not change.
    float initial_pressure(std::size_t plane) const {
        const auto last = static_cast<float>(planes - 1);
        return static_cast<float>(plane * plane) / (last * last);
    }
    /// The value of gosa, the sum of all squared residuals, in the first sweep, except for rounding: with the
    /// benchmark's coefficients the residual is a sixth of the second difference of the pressure, which is the same at
    /// every point.
    double first_gosa() const {
        const auto last = static_cast<double>(planes - 1);
        const double residual = 1.0 / (3.0 * last * last);
        return points() * residual * residual;
    }
};

/// The published sizes. (The paper's numbers are larger by one plane, row and column, which the Fortran program
/// allocates.)
inline constexpr std::array<Problem, 4> problems{{
    {"SS", 32, 32, 64},
    {"S", 64, 64, 128},
    {"M", 128, 128, 256},
    {"L", 256, 256, 512},
}};

} // namespace kumiki::kernels::himeno
