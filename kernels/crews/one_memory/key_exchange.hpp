#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/crews/one_memory/openmp_crew.hpp"
#include "kernels/crews/bucket_turns.hpp"
#include "kernels/crews/key_exchange.hpp"

namespace kumiki::kernels {

/// Workers that share their memory write each key to its place.
template <class C>
class KeysInOneMemory {
public:
    using Worker = typename C::Worker;

    explicit KeysInOneMemory(C& crew) : counts_(static_cast<std::size_t>(crew.size())), received_(counts_.size()) {}

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        counts_[index(worker)] = counts;
        meet(worker);
        return counts_;
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        make_room(worker, plan);
        const PerBucket places = plan.places(shipment.counts, worker.index());
        shipment.scatter(shipment.keys, places, [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
            std::ranges::copy(run, &received_[static_cast<std::size_t>(plan.owner(bucket))][place]);
        });
        if (worker.index() == 0) turns_.begin(plan, 0, static_cast<int>(counts_.size()));
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
        return std::span(received_[index(worker)]).first(plan.keys_of(worker.index()));
    }

private:
    static std::size_t index(const Worker& worker) { return static_cast<std::size_t>(worker.index()); }
    /// Every worker allocates its own memory, so that it is near. The same keys fit again.
    void make_room(Worker& worker, const BucketPlan& plan) {
        if (plan.most_keys() <= room_) return;
        worker.barrier(); // all have seen that there is not enough room
        received_[index(worker)].resize(plan.most_keys());
        if (worker.index() == 0) room_ = plan.most_keys();
        worker.barrier();
    }
    std::span<Key> keys_of(const BucketPlan& plan, std::size_t bucket) {
        return std::span(received_[static_cast<std::size_t>(plan.owner(bucket))])
            .subspan(plan.begins()[bucket], plan.sizes()[bucket]);
    }

    std::vector<PerBucket> counts_;
    std::uint64_t room_ = 0; ///< keys of each worker
    std::vector<AlignedVector<Key>> received_;
    BucketTurns turns_;
};

class SequentialCrew::KeyExchange : public KeysInOneMemory<SequentialCrew> {
    using KeysInOneMemory::KeysInOneMemory;
};
class OpenMpCrew::KeyExchange : public KeysInOneMemory<OpenMpCrew> {
    using KeysInOneMemory::KeysInOneMemory;
};

} // namespace kumiki::kernels
