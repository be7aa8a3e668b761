#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// Keys distributed to buckets by their leading digit, the first step of programs that sort.

namespace kumiki::kernels {

using Key = std::uint32_t;

/// The base of the digit is 256. It is fine enough to balance the load, and coarse enough that the buckets' open cache
/// lines and pages stay within reach of the processor.
inline constexpr int bucket_bits = 8;
inline constexpr std::size_t bucket_count = std::size_t{1} << bucket_bits;

/// One number per bucket: the number of its keys, or the position where its keys begin.
using PerBucket = std::array<std::uint64_t, bucket_count>;

/// The digit that determines the bucket of a key; keys are below bucket_count << shift.
struct LeadingDigit {
    int shift = 32 - bucket_bits;
    constexpr std::size_t operator()(Key key) const { return key >> shift; }
};

/// The number of keys in each bucket.
PerBucket count_in_buckets(std::span<const Key> keys, LeadingDigit bucket_of);

/// `places` advanced by `counts`: where the next writer's keys begin.
void advance(PerBucket& places, const PerBucket& counts);

} // namespace kumiki::kernels
