#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/buckets.hpp"
#include "kernels/common/range.hpp"

namespace kumiki::kernels {

/// The number of keys in these buckets together.
std::uint64_t keys_in(const PerBucket& counts, Range buckets);

/// Which rank gets which buckets, and where they are in its memory. Every rank makes the same plan from the same
/// counts, so the ranks need to agree only on the counts.
class BucketPlan {
public:
    BucketPlan() = default;
    /// `counts[r]` are the buckets of rank r's keys before the sort.
    explicit BucketPlan(std::span<const PerBucket> counts);

    /// The buckets of rank `rank`: contiguous, and cut so that all ranks get about equally many keys.
    Range buckets_of(int rank) const { return buckets_[static_cast<std::size_t>(rank)]; }
    int owner(std::size_t bucket) const { return owner_[bucket]; }
    /// The number of keys that rank `rank` gets, and the largest such number of any rank.
    std::uint64_t keys_of(int rank) const { return keys_[static_cast<std::size_t>(rank)]; }
    /// The number of keys that the ranks before it get.
    std::uint64_t keys_before(int rank) const;
    std::uint64_t most_keys() const;
    /// Where each bucket begins in its owner's memory, and how many keys of all ranks it contains.
    const PerBucket& begins() const { return begins_; }
    const PerBucket& sizes() const { return sizes_; }
    /// Where the keys of rank `rank` go in each bucket: after those of the ranks before it.
    PerBucket places(std::span<const PerBucket> counts, int rank) const;

private:
    std::vector<Range> buckets_;
    std::vector<int> owner_;
    std::vector<std::uint64_t> keys_;
    PerBucket begins_{}, sizes_{};
};

} // namespace kumiki::kernels
