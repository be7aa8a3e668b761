#include "kernels/diffusion/problem.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace kumiki::kernels::diffusion {
namespace {

double wave(int waves, double x) { return std::sin(waves * std::numbers::pi * x); }

/// How fast the exact mode decays because of its shape in one direction.
double exact_rate(int waves) { return waves * waves * std::numbers::pi * std::numbers::pi; }

/// The mode's eigenvalue of -D.
double difference(int waves, double spacing) {
    const double half = wave(waves, spacing / 2);
    return 4 * half * half;
}

/// The exact decay's logarithm, with the sign changed.
double exponent() { return (exact_rate(Problem::waves_x) + exact_rate(Problem::waves_y)) * Problem::end_time; }

} // namespace

const char* name(Method method) { return method == Method::direct ? "direct" : "jacobi"; }

double Problem::along_x(std::size_t i) const { return wave(waves_x, static_cast<double>(i + 1) * spacing()); }
double Problem::along_y(std::size_t i) const { return wave(waves_y, static_cast<double>(i + 1) * spacing()); }

std::size_t Problem::iterations() const {
    const double norm = 2 * steepness() / (1 + 2 * steepness()), left = exponent_error() / (10 * exponent());
    return 2 * static_cast<std::size_t>(std::max(1.0, std::ceil(std::log(left) / std::log(norm) / 2)));
}

double Problem::exact_decay() const { return std::exp(-exponent()); }

double Problem::scheme_decay() const {
    const HalfStep x = half_step(waves_x), y = half_step(waves_y);
    const double steps_but_one = std::pow(x.next_sides * y.next_sides, static_cast<double>(steps - 1));
    return y.sides * steps_but_one * x.next_sides * y.values;
}

Problem::HalfStep Problem::half_step(int waves) const {
    const double s = steepness(), stiffness = s * difference(waves, spacing());
    const double factor = (2 * s - stiffness) / (1 + 2 * s); // of the error, that an iteration leaves
    const double undone = method == Method::direct ? 0 : std::pow(factor, static_cast<double>(iterations()));
    const double values = (1 + stiffness * undone) / (1 + stiffness);
    return {1 - stiffness, values, 2 * values - 1};
}

double Problem::exponent_error() const {
    // Relative to the decay's logarithm in one direction: (rate dt)^2 / 12 in time, (waves pi h)^2 / 12 in space.
    double error = 0;
    for (const int waves : {waves_x, waves_y}) {
        const double rate = exact_rate(waves);
        error += rate * end_time * (std::pow(rate * time_step(), 2) + rate * spacing() * spacing()) / 12;
    }
    return error;
}

double Problem::scheme_tolerance() const { return exact_decay() * std::expm1(1.5 * exponent_error()); }

double Problem::rounding_tolerance() const {
    // The matrix 1 - s D has entries up to 1 + 2 s, whose rounding counts against the 1.
    const double half_step = (1 + 4 * steepness()) * std::numeric_limits<double>::epsilon();
    return 4 * half_step * static_cast<double>(steps);
}

} // namespace kumiki::kernels::diffusion
