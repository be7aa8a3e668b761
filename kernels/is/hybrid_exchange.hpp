#pragma once

#include "kernels/common/hybrid_crew.hpp"
#include "kernels/is/key_exchange.hpp"

namespace kumiki::kernels::is {

/// Every thread puts its keys, in runs, straight to their final bucket in the memory of the rank that owns it: there is
/// no send buffer and no receive buffer.
template <>
class KeyExchange<HybridCrew> {
public:
    using Worker = HybridCrew::Worker;

    /// Collective.
    KeyExchange(HybridCrew& crew, std::size_t most)
        : job_(crew.job()),
          threads_(crew.local_size()),
          most_((most + keys_in_line - 1) / keys_in_line * keys_in_line),
          counts_(job_.allocate<PerBucket>(static_cast<std::size_t>(crew.size()))),
          received_(job_.allocate<Key>(static_cast<std::size_t>(threads_) * most_)) {}

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        worker.enter(Phase::communication);
        PerBucket& own = counts_[worker.index()];
        for (int rank = 0; rank < job_.size(); ++rank) job_.put(rank, own.data(), counts);
        meet(worker);
        return counts_.span();
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        worker.enter(Phase::communication);
        const PerBucket places = plan.places(shipment.counts, worker.index());
        shipment.scatter(shipment.keys, places, [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
            const int owner = plan.owner(bucket);
            job_.put(owner / threads_, received_by(owner % threads_) + place, run);
        });
        meet(worker);
    }
    template <class Visitor>
    void visit(const Worker& worker, const BucketPlan& plan, std::size_t bucket, Visitor visitor) {
        visitor(std::span<const Key>(received_by(worker.local()) + plan.begins()[bucket], plan.sizes()[bucket]));
    }

private:
    static constexpr std::size_t keys_in_line = line_bytes / sizeof(Key);

    Key* received_by(int thread) { return received_.data() + static_cast<std::size_t>(thread) * most_; }
    static void meet(Worker& worker) {
        worker.enter(Phase::synchronisation);
        worker.barrier();
        worker.enter(Phase::computation);
    }

    Job& job_;
    int threads_;
    std::size_t most_;
    Region<PerBucket> counts_; ///< by worker
    Region<Key> received_;     ///< by thread
};

} // namespace kumiki::kernels::is
