#pragma once

#include <atomic>
#include <cstddef>

#include "kernels/common/bucket_plan.hpp"

namespace kumiki::kernels {

/// The buckets that the workers of a process take one after another, so that a delayed worker delays the others by one
/// bucket at most.
class BucketTurns {
public:
    /// Begins with the buckets of the workers first .. first + count. One of the workers calls it, before all of them
    /// synchronise.
    void begin(const BucketPlan& plan, int first, int count) {
        end_ = plan.buckets_of(first + count - 1).end;
        next_.store(plan.buckets_of(first).begin, std::memory_order_relaxed); // ordered by that synchronisation
    }
    template <class Visit>
    void take(Visit visit) {
        for (std::size_t bucket; (bucket = next_.fetch_add(1, std::memory_order_relaxed)) < end_;) visit(bucket);
    }

private:
    std::atomic<std::size_t> next_{0};
    std::size_t end_ = 0;
};

} // namespace kumiki::kernels
