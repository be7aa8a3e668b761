#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace kumiki::accelerator {

/// How fast products are, by shape: by the least of the three lengths, straight lines between the points.
class RateByShape {
public:
    /// Points in ascending order, GFLOP/s.
    explicit RateByShape(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {}
    double operator()(std::size_t rows, std::size_t columns, std::size_t depth) const;

private:
    std::vector<std::pair<double, double>> points_;
};

/// What is set of an emulated device.
struct EmulatedSettings {
    RateByShape rate{{{0, 10}}};
    double bus = 0;           ///< GB/s in each direction; 0: not limited
    double latency = 0;       ///< of each operation in microseconds
    double memory = 4;        ///< GiB
    double once = 0;          ///< GiB of the largest allocation; 0: all of the memory
    int processor = -1;       ///< that computes; -1: any
    std::size_t fails_at = 0; ///< the number of the operation that fails, for tests; 0: none

    /// Reads "rate=20,bus=4"; a rate by shape is "rate=64:5/256:20". Throws DeviceError with a sentence.
    static EmulatedSettings read(std::string_view text);
};

} // namespace kumiki::accelerator
