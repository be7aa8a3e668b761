#pragma once

#include <span>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/scatter.hpp"

namespace kumiki::kernels::is {

/// What every worker has of its own keys, before they move.
struct Shipment {
    std::span<const Key> keys;
    std::span<const PerBucket> counts; ///< of all workers
    Scatter& scatter;
};

/// How keys come to the workers that own their buckets; one specialisation for each crew, and the one place where the
/// forms of the program differ.
///
///   KeyExchange(crew, most)                     a worker gets at most `most` keys
///   share(worker, counts)                       the counts of all workers, by index
///   distribute(worker, plan, shipment)          every key goes to the owner of its bucket; afterwards it is there
///   visit(worker, plan, bucket, visitor)        calls visitor(keys) for all keys of an own bucket, in pieces
template <class C>
class KeyExchange;

} // namespace kumiki::kernels::is
