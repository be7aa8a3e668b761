#pragma once

#include <cstdint>

#include "kernels/common/range.hpp"

namespace kumiki::kernels::pi {

/// The two ways of the JAMSTEC paper to compute pi (F62).
enum class Method {
    monte_carlo, ///< the share of random points of the unit square that hit the quarter circle
    integration, ///< the integral of 4 / (1 + x^2) from 0 to 1 by the midpoint rule
};
const char* name(Method method);

/// A number of trials, or intervals, cut into pieces that workers share. The contribution of a piece is a whole number
/// in either method; so the sum over all pieces, and with it the result, has the same bits whichever worker computes
/// which piece.
struct Problem {
    static constexpr std::uint64_t piece = 4096; ///< trials or intervals; the last piece may have fewer

    Method method = Method::monte_carlo;
    std::uint64_t count = 2'147'483'647; ///< at most 2^40
    std::uint64_t seed = 1;              ///< of monte_carlo

    std::uint64_t pieces() const { return (count + piece - 1) / piece; }
    /// The sum over a range of pieces: hits, or the integrand in units of 2^-fraction_bits().
    std::uint64_t tally(Range pieces) const;
    /// Pi from the sum over all pieces.
    double estimate(std::uint64_t tally) const;
    /// The largest acceptable error of the estimate. Monte Carlo: five standard deviations, sqrt(pi (4 - pi) / count)
    /// each. Midpoint rule: 1 / (12 count^2), from (f'(1) - f'(0)) / 24 times the square of the interval, and rounding.
    double tolerance() const;
    bool verifies(std::uint64_t tally) const;

private:
    /// As many bits as keep the sum of the integrand, at most 4 count, below 2^63.
    int fraction_bits() const;
};

} // namespace kumiki::kernels::pi
