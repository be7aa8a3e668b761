#pragma once

#include <cstdint>

#include "kernels/pi/philox.hpp"

namespace kumiki::kernels::pi {

/// Returns how many of the `trials` trials that begin with number `first`, an even one, hit the quarter circle. A block
/// of four random words makes two trials; the numbers of the blocks are the counter, the seed is the key.
std::uint64_t count_hits(std::uint64_t first, std::uint64_t trials, std::uint64_t seed);

/// 1 if the point of two random words is outside the quarter circle, otherwise 0. Both coordinates are odd multiples of
/// 2^-31, the centres of 2^30 cells, so that their squares and the comparison are exact.
constexpr std::uint64_t is_miss(std::uint32_t x, std::uint32_t y) {
    const std::uint64_t wide_x = x >> 1 | 1, wide_y = y >> 1 | 1;
    return (wide_x * wide_x + wide_y * wide_y) >> 62;
}

} // namespace kumiki::kernels::pi
