#include "kernels/pi/problem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "kernels/pi/hits.hpp"

namespace kumiki::kernels::pi {
namespace {

/// The sum of 4 / (1 + x^2) over the midpoints of `intervals` of 0 .. 1, from number `first` on, each of this width.
double sum_integrand(std::uint64_t first, std::uint64_t intervals, double width) {
    const double begin = static_cast<double>(first) + 0.5;
    double sum = 0;
    const auto count = static_cast<std::int32_t>(intervals); // which a vector instruction converts to doubles
#pragma omp simd reduction(+ : sum)
    for (std::int32_t i = 0; i < count; ++i) {
        const double x = (begin + i) * width;
        sum += 4.0 / (1.0 + x * x);
    }
    return sum;
}

} // namespace

const char* name(Method method) { return method == Method::monte_carlo ? "monte-carlo" : "integration"; }

int Problem::fraction_bits() const { return 61 - static_cast<int>(std::bit_width(count)); }

std::uint64_t Problem::tally(Range pieces) const {
    if (method == Method::monte_carlo) {
        const std::uint64_t begin = pieces.begin * piece;
        return count_hits(begin, std::min(pieces.end * piece, count) - std::min(begin, count), seed);
    }
    std::uint64_t sum = 0;
    for (std::uint64_t number = pieces.begin; number < pieces.end; ++number) {
        const std::uint64_t begin = number * piece, end = std::min(begin + piece, count);
        const double part = sum_integrand(begin, end - begin, 1.0 / static_cast<double>(count));
        sum += static_cast<std::uint64_t>(std::llround(std::ldexp(part, fraction_bits())));
    }
    return sum;
}

double Problem::estimate(std::uint64_t tally) const {
    const auto share = static_cast<double>(tally) / static_cast<double>(count);
    return method == Method::monte_carlo ? 4 * share : std::ldexp(share, -fraction_bits());
}

double Problem::tolerance() const {
    const auto points = static_cast<double>(count);
    if (method == Method::monte_carlo) return 5 * std::sqrt(std::numbers::pi * (4 - std::numbers::pi) / points);
    constexpr double rounding = 1e-14;
    return 1 / (12 * points * points) + rounding;
}

bool Problem::verifies(std::uint64_t tally) const {
    return std::abs(estimate(tally) - std::numbers::pi) <= tolerance();
}

} // namespace kumiki::kernels::pi
