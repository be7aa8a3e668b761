#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/common/aligned.hpp"

// For code that is compiled with -fopenmp-simd.

namespace kumiki::kernels {

/// Calls compute(i) -> double for `count` points that are independent of each other, i = 0, step, 2 * step ... If the
/// points are adjacent, they are computed in vectors, the last of which is masked: half a row of a tile may consist of
/// few vectors, and seven single points would take as long as these. Returns the largest value that compute returns, at
/// least 0. Which loop computes a point depends on how the grid is cut, and must not change its bits: the kernels'
/// tests compare cuts, because a compiler may choose where to fuse multiplications and additions (-ffp-contract=off
/// costs up to 6 %).
template <class Compute>
[[gnu::always_inline]] inline double largest_of(std::size_t count, std::size_t step, Compute compute) {
    double largest = 0;
    if (step > 1) {
        for (std::size_t k = 0; k < count; ++k) largest = std::max(largest, compute(k * step));
        return largest;
    }
    constexpr std::size_t lanes = line_bytes / sizeof(double);
    const std::size_t whole = count / lanes * lanes;
    // A promise that nothing overlaps (`restrict`) would be wrong; the points are nevertheless independent.
#pragma omp simd reduction(max : largest)
    for (std::size_t i = 0; i < whole; ++i) {
        const double value = compute(i);
        largest = value > largest ? value : largest;
    }
    if (whole == count) return largest;
#pragma omp simd reduction(max : largest)
    for (std::size_t lane = 0; lane < lanes; ++lane)
        if (whole + lane < count) {
            const double value = compute(whole + lane);
            largest = value > largest ? value : largest;
        }
    return largest;
}

/// The same if compute(i) returns nothing.
template <class Compute>
[[gnu::always_inline]] inline void for_all_of(std::size_t count, std::size_t step, Compute compute) {
    largest_of(count, step, [=](std::size_t i) {
        compute(i);
        return 0.0;
    });
}

} // namespace kumiki::kernels
