#pragma once

#include <algorithm>
#include <limits>

#include "bench/common/late_comer.hpp"
#include "bench/common/world.hpp"

namespace kumiki::bench {

/// How far this rank's clock is ahead of rank 0's, as a lower and an upper bound, because the clocks of hosts differ.
/// On one host both are 0. Constructing it is collective.
class HostsClock {
public:
    template <World W>
    explicit HostsClock(W& world) {
        if (world.hosts() == 1) return;
        constexpr double never = std::numeric_limits<double>::lowest();
        least_ahead_ = never;
        most_ahead_ = -never;
        for (int round = 0; round < rounds; ++round) {
            // Rank 0 reads its clock after all ranks have read theirs here, and before any rank reads its clock again
            // below.
            const double before = host_seconds();
            world.largest(0);
            const double middle = world.largest(world.rank() == 0 ? host_seconds() : never);
            least_ahead_ = std::max(least_ahead_, before - middle);
            most_ahead_ = std::min(most_ahead_, host_seconds() - middle);
        }
    }

    /// A time of this rank on rank 0's clock: the earliest and the latest possible value.
    double earliest(double seconds) const { return seconds - most_ahead_; }
    double latest(double seconds) const { return seconds - least_ahead_; }
    /// Two times that are closer than this, in seconds, cannot be ordered.
    double uncertainty() const { return most_ahead_ - least_ahead_; }

private:
    static constexpr int rounds = 10;

    double least_ahead_ = 0, most_ahead_ = 0;
};

} // namespace kumiki::bench
