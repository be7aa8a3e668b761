#pragma once

#include <optional>

#include "kernels/crews/hybrid/hybrid_crew.hpp"
#include "kernels/crews/bucket_turns.hpp"
#include "kernels/crews/key_exchange.hpp"

namespace kumiki::kernels {

/// Every thread puts its keys, in runs, directly to their final bucket in the memory of the rank that owns it: there is
/// no send buffer and no receive buffer.
class HybridCrew::KeyExchange {
public:
    /// Collective.
    explicit KeyExchange(HybridCrew& crew)
        : job_(crew.job()),
          threads_(crew.local_size()),
          counts_(job_.allocate<PerBucket>(static_cast<std::size_t>(crew.size()))) {}

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        worker.enter(Phase::communication);
        PerBucket& own = counts_[worker.index()];
        for (int rank = 0; rank < job_.size(); ++rank) job_.put(rank, own.data(), counts);
        meet(worker);
        return counts_.span();
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        make_room(worker, plan);
        worker.enter(Phase::communication);
        const PerBucket places = plan.places(shipment.counts, worker.index());
        shipment.scatter(shipment.keys, places, [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
            const int owner = plan.owner(bucket);
            job_.put(owner / threads_, received_by(owner) + place, run);
        });
        if (worker.local() == 0) turns_.begin(plan, worker.index(), threads_);
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
        return {received_by(worker.index()), plan.keys_of(worker.index())};
    }

private:
    static constexpr std::size_t keys_in_line = line_bytes / sizeof(Key);

    /// All ranks must agree, because a place must exist at every rank: there is room for the thread with the most keys.
    /// The same keys fit again.
    void make_room(Worker& worker, const BucketPlan& plan) {
        if (received_ && plan.most_keys() <= room_) return;
        worker.barrier(); // all have seen that there is not enough room
        if (worker.local() == 0) {
            received_.reset();
            room_ = (std::max<std::uint64_t>(plan.most_keys(), 1) + keys_in_line - 1) / keys_in_line * keys_in_line;
            received_.emplace(job_.allocate<Key>(static_cast<std::size_t>(threads_) * room_));
        }
        worker.barrier();
    }
    Key* received_by(int worker) { return received_->data() + static_cast<std::size_t>(worker % threads_) * room_; }
    std::span<Key> keys_of(const BucketPlan& plan, std::size_t bucket) {
        return {received_by(plan.owner(bucket)) + plan.begins()[bucket], plan.sizes()[bucket]};
    }

    Job& job_;
    int threads_;
    Region<PerBucket> counts_;            ///< by worker
    std::size_t room_ = 0;                ///< keys of each thread
    std::optional<Region<Key>> received_; ///< by thread
    BucketTurns turns_;
};

} // namespace kumiki::kernels
