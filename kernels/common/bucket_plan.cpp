#include "kernels/common/bucket_plan.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/common/balance.hpp"

namespace kumiki::kernels {

std::uint64_t keys_in(const PerBucket& counts, Range buckets) {
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(buckets.begin);
    return std::accumulate(first, first + static_cast<std::ptrdiff_t>(buckets.size()), std::uint64_t{0});
}

BucketPlan::BucketPlan(std::span<const PerBucket> counts) : owner_(bucket_count, 0) {
    for (const PerBucket& count : counts) advance(sizes_, count);
    buckets_ = balanced_parts(sizes_, static_cast<int>(counts.size()));
    for (std::size_t rank = 0; rank < buckets_.size(); ++rank) {
        std::uint64_t keys = 0;
        for (std::size_t bucket = buckets_[rank].begin; bucket < buckets_[rank].end; ++bucket) {
            owner_[bucket] = static_cast<int>(rank);
            begins_[bucket] = keys;
            keys += sizes_[bucket];
        }
        keys_.push_back(keys);
    }
}

std::uint64_t BucketPlan::most_keys() const { return *std::ranges::max_element(keys_); }

std::uint64_t BucketPlan::keys_before(int rank) const {
    return std::accumulate(keys_.begin(), keys_.begin() + rank, std::uint64_t{0});
}

PerBucket BucketPlan::places(std::span<const PerBucket> counts, int rank) const {
    PerBucket places = begins_;
    for (const PerBucket& before : counts.first(static_cast<std::size_t>(rank))) advance(places, before);
    return places;
}

} // namespace kumiki::kernels
