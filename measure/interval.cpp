#include "measure/interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kumiki::measure {

Interval median_interval(std::span<const double> samples) {
    std::vector<double> ordered(samples.begin(), samples.end());
    std::ranges::sort(ordered);
    const auto count = static_cast<double>(ordered.size());
    const double spread = 1.96 * std::sqrt(count);
    const auto at_rank = [&](double rank) {
        return ordered[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1];
    };
    const std::size_t middle = ordered.size() / 2;
    return {ordered.size() % 2 == 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2,
            at_rank(std::floor((count - spread) / 2)), at_rank(std::ceil(1 + (count + spread) / 2))};
}

bool settled(std::span<const double> samples, double resolution) {
    if (samples.size() < fewest_to_settle) return false;
    const Interval interval = median_interval(samples);
    return interval.half_width() <= std::max(settled_half_width * std::abs(interval.median), resolution);
}

} // namespace kumiki::measure
