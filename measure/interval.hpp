#pragma once

#include <span>

namespace kumiki::measure {

/// A median, and the interval that contains the true median with 95 % confidence, whatever the distribution.
struct Interval {
    double median = 0, low = 0, high = 0;

    double half_width() const { return (high - low) / 2; }
};

/// The interval of at least one sample, by order statistics: it extends between the sorted samples of the ranks (n -
/// 1.96 sqrt n)/2, rounded down, and 1 + (n + 1.96 sqrt n)/2, rounded up, as far as these exist.
Interval median_interval(std::span<const double> samples);

/// With fewer samples, the median is between the smallest and the largest of them too seldom: in 94 % of cases with 5
/// samples, in 97 % with 6.
inline constexpr std::size_t fewest_to_settle = 6;
/// Half an interval's width, as a share of the median, that is small enough.
inline constexpr double settled_half_width = 0.05;

/// Whether the median is known well enough: the one rule by which programs stop sampling, and by which the tool calls a
/// row converged (tool/kumiki/results/statistics.py). If half the interval is at most `resolution`, in the unit of the
/// samples, the interval is narrow enough however small the median is.
bool settled(std::span<const double> samples, double resolution = 0);

} // namespace kumiki::measure
