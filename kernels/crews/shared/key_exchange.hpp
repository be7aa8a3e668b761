#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/crews/bucket_turns.hpp"
#include "kernels/crews/key_exchange.hpp"
#include "kernels/crews/shared/shared_crew.hpp"

namespace kumiki::kernels {

/// Every thread writes its keys to their final bucket, which is in a shared array.
class SharedCrew::KeyExchange {
public:
    /// Collective.
    explicit KeyExchange(SharedCrew& crew)
        : crew_(crew),
          counts_(crew.pages(), static_cast<std::size_t>(crew.size()),
                  [threads = crew.local_size()](std::size_t worker) { return static_cast<int>(worker) / threads; }) {}

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        counts_.span()[static_cast<std::size_t>(worker.index())] = counts;
        meet(worker);
        return counts_.span();
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        make_room(worker, plan);
        worker.enter(Phase::communication);
        const PerBucket places = plan.places(shipment.counts, worker.index());
        shipment.scatter(shipment.keys, places, [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
            std::ranges::copy(run, received_->of(plan.owner(bucket)).data() + place);
        });
        if (worker.local() == 0) turns_.begin(plan, worker.index(), crew_.local_size());
        meet(worker);
    }
    template <class Read>
    void visit(const Worker&, const BucketPlan& plan, std::size_t bucket, Read read) {
        read(std::span<const Key>(keys_of(plan, bucket)));
    }
    template <class Change>
    void for_whole_buckets(const Worker&, const BucketPlan& plan, Change change) {
        turns_.take([&](std::size_t bucket) { change(keys_of(plan, bucket)); });
    }
    std::span<const Key> kept(const Worker& worker, const BucketPlan& plan) {
        return received_->of(worker.index()).first(plan.keys_of(worker.index()));
    }

private:
    /// There is room for the thread with the most keys, which all ranks know. The same keys fit again.
    void make_room(Worker& worker, const BucketPlan& plan) {
        if (received_ && plan.most_keys() <= received_->length()) return;
        worker.barrier(); // all have seen that there is not enough room
        if (worker.local() == 0) {
            received_.reset();
            received_.emplace(crew_.pages(), crew_.size(), crew_.local_size(), plan.most_keys());
        }
        worker.barrier();
    }
    std::span<Key> keys_of(const BucketPlan& plan, std::size_t bucket) {
        return received_->of(plan.owner(bucket)).subspan(plan.begins()[bucket], plan.sizes()[bucket]);
    }

    SharedCrew& crew_;
    PlacedArray<PerBucket> counts_;            ///< by worker
    std::optional<WorkerParts<Key>> received_; ///< by worker
    BucketTurns turns_;
};

} // namespace kumiki::kernels
