#pragma once

#include <cstddef>

namespace kumiki::kernels::diffusion {

/// How the line systems of a half step are solved: by elimination, or by Jacobi iterations as in the paper (F63).
enum class Method { direct, jacobi };
const char* name(Method method);

/// Diffusion on the unit square, du/dt = d2u/dx2 + d2u/dy2 with u = 0 on the boundary, from one sine mode at time 0 to
/// end_time, by alternating directions (Peaceman and Rachford; F63): half a time step is implicit along x, the other
/// half along y. With s = steepness() and D the second difference,
///
///     (1 - s Dx) v = (1 + s Dy) u,    (1 - s Dy) u' = (1 + s Dx) v.
///
/// The mode, sin(pi x) sin(2 pi y), is also an eigenmode of the differences, so the result of the scheme is known
/// exactly, as well as that of diffusion itself. The mode differs along x and y, so that a mix-up of the two is
/// detected.
struct Problem {
    std::size_t size = 513;  ///< points along an edge, boundary included; at least 3
    std::size_t steps = 100; ///< time steps; fewer than fewest_steps would not follow the decay
    Method method = Method::direct;

    static constexpr double end_time = 0.05;
    static constexpr int waves_x = 1, waves_y = 2; ///< half waves of the mode
    static constexpr std::size_t fewest_steps = 10;

    /// The points along a line that the scheme computes.
    std::size_t inner() const { return size - 2; }
    double spacing() const { return 1.0 / static_cast<double>(size - 1); }
    double time_step() const { return end_time / static_cast<double>(steps); }
    /// Half the ratio of the time step to the square of the spacing.
    double steepness() const { return time_step() / (2 * spacing() * spacing()); }

    /// The mode's two factors, at the inner point `i` of a line along x or y.
    double along_x(std::size_t i) const;
    double along_y(std::size_t i) const;

    /// The Jacobi iterations of a half step, an even number. With d an eigenvalue of -D, an iteration multiplies a
    /// mode's error by j = s (2 - d) / (1 + 2 s), whose size is less than 2 s / (1 + 2 s). As the iterations start from
    /// the right side r, k of them turn it into 2 v - r = (1 - s d (1 - 2 j^k)) / (1 + s d) r: no mode grows, because
    /// j^k is not negative if k is even, and the decay's logarithm is too small by about the part j^k. So k is known
    /// beforehand: that part is at most a tenth of the scheme's error.
    std::size_t iterations() const;

    /// The remaining part of the mode's amplitude at the end: for the exact solution, and for the scheme, including the
    /// error of unfinished iterations.
    double exact_decay() const;
    double scheme_decay() const;
    /// The largest acceptable difference of these two: the leading terms of the errors in time and space, and half of
    /// them again for the rest.
    double scheme_tolerance() const;
    /// The largest acceptable difference of a computed value from the scheme's: rounding, which adds up over the steps.
    double rounding_tolerance() const;

private:
    /// The mode's right sides before a half step in one direction, relative to the values; and the factor of the half
    /// step for right sides.
    struct HalfStep {
        double sides, values, next_sides;
    };
    HalfStep half_step(int waves) const;
    /// The leading terms of scheme_tolerance(), in the decay's logarithm.
    double exponent_error() const;
};

} // namespace kumiki::kernels::diffusion
