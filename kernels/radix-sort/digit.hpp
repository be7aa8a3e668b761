#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/radix-sort/keys.hpp"

namespace kumiki::kernels::radix_sort {

/// The base of the radix sort is 256. As the leading digit between ranks it is fine enough to balance them and coarse
/// enough that the buckets' open cache lines and pages stay within reach of the processor; at 4M keys a bucket (64 KiB)
/// is sorted in the second-level cache.
inline constexpr int digit_bits = 8;
inline constexpr std::size_t bucket_count = std::size_t{1} << digit_bits;
inline constexpr int key_digits = 32 / digit_bits;

/// Digit number `place` of a key, 0 the lowest.
constexpr std::size_t digit(Key key, int place) { return (key >> (place * digit_bits)) % bucket_count; }
constexpr std::size_t leading_digit(Key key) { return digit(key, key_digits - 1); }

/// One number per bucket: how many keys, or where its keys begin.
using PerBucket = std::array<std::uint64_t, bucket_count>;

/// How many keys have each leading digit.
PerBucket count_leading_digits(std::span<const Key> keys);

} // namespace kumiki::kernels::radix_sort
