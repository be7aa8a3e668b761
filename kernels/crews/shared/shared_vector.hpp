#pragma once

#include <algorithm>
#include <vector>

#include "kernels/crews/shared/shared_crew.hpp"
#include "kernels/crews/shared_vector.hpp"

namespace kumiki::kernels {

/// The vector is a shared array; the barrier makes all parts visible to all.
class SharedCrew::SharedVector : public ArrivesWhole {
public:
    /// Collective.
    SharedVector(SharedCrew& crew, std::span<const Range> parts)
        : vector_(crew.pages(), parts.back().end,
                  [threads = crew.local_size(), parts = std::vector(parts.begin(), parts.end())](std::size_t index) {
                      const auto part = std::ranges::upper_bound(parts, index, {}, &Range::begin) - 1;
                      return static_cast<int>(part - parts.begin()) / threads;
                  }) {}

    std::span<double> span() { return vector_.span(); }
    static void start(Worker& worker) { meet(worker); }

private:
    PlacedArray<double> vector_;
};

} // namespace kumiki::kernels
