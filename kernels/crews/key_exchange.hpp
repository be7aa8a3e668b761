#pragma once

#include <concepts>
#include <span>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/scatter.hpp"

namespace kumiki::kernels {

/// The facts that every worker knows about its own keys before they move.
struct Shipment {
    std::span<const Key> keys;
    std::span<const PerBucket> counts; ///< of all workers
    Scatter& scatter;
};

/// How keys reach the workers that own their buckets: C::KeyExchange(crew). Every worker calls all members in the same
/// order.
template <class E, class W>
concept KeyExchangeBetween =
    requires(E exchange, W worker, const PerBucket& counts, const BucketPlan& plan, const Shipment& shipment,
             std::size_t bucket, void (*read)(std::span<const Key>), void (*change)(std::span<Key>)) {
        /// The counts of all workers, by index; they remain valid until the next call.
        { exchange.share(worker, counts) } -> std::same_as<std::span<const PerBucket>>;
        /// Sends every key to the owner of its bucket. Buffers grow as the plan requires.
        exchange.distribute(worker, plan, shipment);
        /// Calls read(keys) for all keys of each of the worker's own buckets, in pieces; the buckets in ascending
        /// order.
        exchange.visit(worker, plan, bucket, read);
        /// Calls change(keys) for every bucket as a whole, each on one of the workers of its owner's process.
        exchange.for_whole_buckets(worker, plan, change);
        /// The keys of the worker's own buckets, one bucket after another, as for_whole_buckets() of all workers left
        /// them.
        { exchange.kept(worker, plan) } -> std::same_as<std::span<const Key>>;
    };

} // namespace kumiki::kernels
