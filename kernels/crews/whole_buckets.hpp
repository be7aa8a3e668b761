#pragma once

#include <algorithm>
#include <vector>

#include "kernels/common/bucket_plan.hpp"

namespace kumiki::kernels {

/// Assembles the buckets of one worker whose keys arrived in pieces from several others.
class WholeBuckets {
public:
    /// visit(bucket, read) calls read(keys) for all pieces of a bucket. Each bucket is assembled and then changed while
    /// it is in the cache.
    template <class Visit, class Change>
    void assemble(const BucketPlan& plan, int worker, Visit visit, Change change) {
        keys_.resize(std::max<std::size_t>(keys_.size(), plan.keys_of(worker)));
        const Range buckets = plan.buckets_of(worker);
        for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) {
            const std::span<Key> whole = std::span(keys_).subspan(plan.begins()[bucket], plan.sizes()[bucket]);
            auto place = whole.begin();
            visit(bucket, [&](std::span<const Key> piece) { place = std::ranges::copy(piece, place).out; });
            change(whole);
        }
    }
    std::span<const Key> keys(const BucketPlan& plan, int worker) const {
        return std::span(keys_).first(plan.keys_of(worker));
    }

private:
    std::vector<Key> keys_;
};

} // namespace kumiki::kernels
