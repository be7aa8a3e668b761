#pragma once

#include "kernels/common/buckets.hpp"

namespace kumiki::kernels::radix_sort {

/// The digits of 32-bit keys in the base of the buckets; at 4M keys a bucket of the leading one (64 KiB) is sorted in
/// the second-level cache.
inline constexpr int key_digits = 32 / bucket_bits;

/// Digit number `place` of a key, 0 the lowest.
constexpr std::size_t digit(Key key, int place) { return (key >> (place * bucket_bits)) % bucket_count; }

} // namespace kumiki::kernels::radix_sort
