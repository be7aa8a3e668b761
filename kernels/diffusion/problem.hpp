#pragma once

#include <cstddef>

namespace kumiki::kernels::diffusion {

/// How the line systems of a half step are solved: by elimination, or by Jacobi iterations, as the paper does (F63).
enum class Method { direct, jacobi };
const char* name(Method method);

/// Diffusion on the unit square, du/dt = d2u/dx2 + d2u/dy2 with u = 0 on the boundary, from one sine mode at time 0 to
/// end_time, by alternating directions (Peaceman and Rachford; F63): half a time step is implicit along x, the other
/// half along y. With s = steepness() and D the second difference,
///
///     (1 - s Dx) v = (1 + s Dy) u,    (1 - s Dy) u' = (1 + s Dx) v.
///
/// The mode, sin(pi x) sin(2 pi y), is one for the differences too; so what the scheme makes of it is known exactly,
/// beside what diffusion does. It differs along x and y, so that no mix-up of the two goes unseen.
struct Problem {
    std::size_t size = 513;  ///< points along an edge, boundary included; at least 3
    std::size_t steps = 100; ///< time steps; fewer than fewest_steps would not follow the decay
    Method method = Method::direct;

    static constexpr double end_time = 0.05;
    static constexpr int waves_x = 1, waves_y = 2; ///< half waves of the mode
    static constexpr std::size_t fewest_steps = 10;

    /// Points along a line that the scheme computes.
    std::size_t inner() const { return size - 2; }
    double spacing() const { return 1.0 / static_cast<double>(size - 1); }
    double time_step() const { return end_time / static_cast<double>(steps); }
    /// Half the ratio of the time step to the square of the spacing.
    double steepness() const { return time_step() / (2 * spacing() * spacing()); }

    /// The mode's two factors, at the inner point `i` of a line along x or y.
    double along_x(std::size_t i) const;
    double along_y(std::size_t i) const;

    /// Jacobi iterations of a half step, an even number. With d an eigenvalue of -D, an iteration leaves the factor
    /// j = s (2 - d) / (1 + 2 s) of a mode's error, less than 2 s / (1 + 2 s) in size. As they start from the right
    /// side r, k of them turn it into 2 v - r = (1 - s d (1 - 2 j^k)) / (1 + s d) r: no mode grows, because j^k is not
    /// negative where k is even, and the decay's logarithm is too small by about the part j^k. So k is known
    /// beforehand: that part is at most a tenth of the scheme's error.
    std::size_t iterations() const;

    /// What is left of the mode's amplitude at the end: of the exact solution, and of the scheme's, with what its
    /// iterations leave undone.
    double exact_decay() const;
    double scheme_decay() const;
    /// How far the two may lie apart: the leading terms of the errors in time and space, and half of them again for the
    /// rest.
    double scheme_tolerance() const;
    /// How far a computed value may lie from the scheme's: rounding, which adds up over the steps.
    double rounding_tolerance() const;

private:
    /// The mode's right sides before a half step in one direction, by the values; and what it makes of right sides.
    struct HalfStep {
        double sides, values, next_sides;
    };
    HalfStep half_step(int waves) const;
    /// The leading terms of scheme_tolerance(), in the decay's logarithm.
    double exponent_error() const;
};

} // namespace kumiki::kernels::diffusion
