#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/openmp_crew.hpp"
#include "kernels/is/key_exchange.hpp"

namespace kumiki::kernels::is {

/// Workers that share their memory write each key to its place.
template <class C>
class SharedKeyExchange {
public:
    using Worker = typename C::Worker;

    SharedKeyExchange(C& crew, std::size_t most)
        : counts_(static_cast<std::size_t>(crew.size())), received_(counts_.size()) {
        // Every worker makes its own, so that it lies near it.
        crew.run([&](const Worker& worker) { received_[index(worker)].resize(most); });
    }

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        counts_[index(worker)] = counts;
        meet(worker);
        return counts_;
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        const PerBucket places = plan.places(shipment.counts, worker.index());
        shipment.scatter(shipment.keys, places, [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
            std::ranges::copy(run, &received_[static_cast<std::size_t>(plan.owner(bucket))][place]);
        });
        meet(worker);
    }
    template <class Visitor>
    void visit(const Worker& worker, const BucketPlan& plan, std::size_t bucket, Visitor visitor) {
        visitor(std::span<const Key>(received_[index(worker)]).subspan(plan.begins()[bucket], plan.sizes()[bucket]));
    }

private:
    static std::size_t index(const Worker& worker) { return static_cast<std::size_t>(worker.index()); }
    static void meet(Worker& worker) {
        worker.enter(Phase::synchronisation);
        worker.barrier();
        worker.enter(Phase::computation);
    }

    std::vector<PerBucket> counts_;
    std::vector<AlignedVector<Key>> received_;
};

template <>
class KeyExchange<SequentialCrew> : public SharedKeyExchange<SequentialCrew> {
    using SharedKeyExchange::SharedKeyExchange;
};
template <>
class KeyExchange<OpenMpCrew> : public SharedKeyExchange<OpenMpCrew> {
    using SharedKeyExchange::SharedKeyExchange;
};

} // namespace kumiki::kernels::is
