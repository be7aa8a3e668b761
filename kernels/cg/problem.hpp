#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kumiki::kernels::cg {

/// A class of the NAS parallel benchmark CG: power iterations that estimate the smallest eigenvalue of a sparse
/// symmetric positive definite matrix with a random pattern; each step solves a linear system by 25 steps of the
/// conjugate gradient method.
struct Problem {
    std::string_view name;
    std::size_t order;     ///< rows of the matrix
    int nonzeros;          ///< nonzeros of each random vector from which the matrix is made
    int iterations;        ///< of the power method
    double shift;          ///< of the eigenvalue
    double published_zeta; ///< the estimate with which every correct implementation ends

    static constexpr int inner_iterations = 25;
    static constexpr double tolerance = 1e-10; ///< of zeta, relative

    /// The number of products of the matrix and a vector in a run.
    int products() const { return iterations * (inner_iterations + 1); }
    /// Floating-point operations of a run, counted as the benchmark counts them.
    double operations() const {
        const double row = nonzeros * (nonzeros + 1.0);
        return 2.0 * iterations * static_cast<double>(order) * (3.0 + row + inner_iterations * (5.0 + row) + 3.0);
    }
    bool verifies(double zeta) const {
        const double error = (zeta - published_zeta) / published_zeta;
        return error <= tolerance && error >= -tolerance; // false for a zeta that is not a number
    }
};

inline constexpr std::array<Problem, 4> problems{{
    {"S", 1400, 7, 15, 10.0, 8.5971775078648},
    {"W", 7000, 8, 15, 12.0, 10.362595087124},
    {"A", 14000, 11, 15, 20.0, 17.130235054029},
    {"B", 75000, 13, 75, 60.0, 22.712745482631},
}};

} // namespace kumiki::kernels::cg
