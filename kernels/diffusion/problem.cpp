#include "kernels/diffusion/problem.hpp"

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

} // namespace

double Problem::along_x(std::size_t i) const { return wave(waves_x, static_cast<double>(i + 1) * spacing()); }
double Problem::along_y(std::size_t i) const { return wave(waves_y, static_cast<double>(i + 1) * spacing()); }

double Problem::exact_decay() const { return std::exp(-(exact_rate(waves_x) + exact_rate(waves_y)) * end_time); }

double Problem::scheme_decay() const {
    double step = 1;
    for (const int waves : {waves_x, waves_y}) {
        const double stiffness = steepness() * difference(waves, spacing());
        step *= (1 - stiffness) / (1 + stiffness);
    }
    return std::pow(step, static_cast<double>(steps));
}

double Problem::scheme_tolerance() const {
    // Relative errors of the decay's logarithm: (rate dt)^2 / 12 in time, (waves pi h)^2 / 12 in space.
    double exponent = 0;
    for (const int waves : {waves_x, waves_y}) {
        const double rate = exact_rate(waves);
        exponent += rate * end_time * (std::pow(rate * time_step(), 2) + rate * spacing() * spacing()) / 12;
    }
    return exact_decay() * std::expm1(1.5 * exponent);
}

double Problem::rounding_tolerance() const {
    // The matrix 1 - s D has entries up to 1 + 2 s, whose rounding counts against the 1.
    const double half_step = (1 + 4 * steepness()) * std::numeric_limits<double>::epsilon();
    return 4 * half_step * static_cast<double>(steps);
}

} // namespace kumiki::kernels::diffusion
