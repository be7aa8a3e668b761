#pragma once

#include <numeric>
#include <utility>

#include "kernels/common/mpi_crew.hpp"
#include "kernels/is/key_exchange.hpp"

namespace kumiki::kernels::is {

/// MPI_Alltoallv between processes, out of a buffer in which the keys lie by bucket. What comes from different
/// processes lies apart.
template <>
class KeyExchange<MpiCrew> {
public:
    using Worker = MpiCrew::Worker;

    KeyExchange(MpiCrew& crew, std::size_t most)
        : counts_(static_cast<std::size_t>(crew.size())), begins_(counts_.size()), received_(most) {}

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        worker.enter(Phase::communication);
        MPI_Allgather(counts.data(), bucket_count, MPI_UINT64_T, counts_.data(), bucket_count, MPI_UINT64_T,
                      MPI_COMM_WORLD);
        worker.enter(Phase::computation);
        return counts_;
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        const PerBucket& own = shipment.counts[static_cast<std::size_t>(worker.index())];
        split_.resize(shipment.keys.size());
        PerBucket places;
        std::exclusive_scan(own.begin(), own.end(), places.begin(), std::uint64_t{0});
        shipment.scatter(shipment.keys, places, [&](std::size_t, std::uint64_t place, std::span<const Key> run) {
            std::ranges::copy(run, &split_[place]);
        });
        const Range received_buckets = plan.buckets_of(worker.index());
        Layout outgoing, incoming;
        for (int other = 0; other < static_cast<int>(counts_.size()); ++other) {
            outgoing.append(plan.buckets_of(other), own);
            incoming.append(received_buckets, shipment.counts[static_cast<std::size_t>(other)]);
        }
        worker.enter(Phase::communication);
        MPI_Alltoallv(split_.data(), outgoing.counts.data(), outgoing.begins.data(), MPI_UINT32_T, received_.data(),
                      incoming.counts.data(), incoming.begins.data(), MPI_UINT32_T, MPI_COMM_WORLD);
        worker.enter(Phase::computation);
        for (std::size_t source = 0; source < counts_.size(); ++source) {
            auto begin = static_cast<std::uint64_t>(incoming.begins[source]);
            for (std::size_t bucket = received_buckets.begin; bucket < received_buckets.end; ++bucket)
                begins_[source][bucket] = std::exchange(begin, begin + shipment.counts[source][bucket]);
        }
    }
    template <class Visitor>
    void visit(const Worker&, const BucketPlan&, std::size_t bucket, Visitor visitor) {
        for (std::size_t source = 0; source < counts_.size(); ++source)
            visitor(std::span<const Key>(received_).subspan(begins_[source][bucket], counts_[source][bucket]));
    }

private:
    /// One side of MPI_Alltoallv: a count and a displacement for each process. No class has keys beyond what an int
    /// counts.
    struct Layout {
        std::vector<int> counts, begins;
        void append(Range buckets, const PerBucket& count) {
            begins.push_back(counts.empty() ? 0 : begins.back() + counts.back());
            const auto first = count.begin() + static_cast<std::ptrdiff_t>(buckets.begin);
            counts.push_back(static_cast<int>(
                std::accumulate(first, first + static_cast<std::ptrdiff_t>(buckets.size()), std::uint64_t{0})));
        }
    };

    std::vector<PerBucket> counts_; ///< by process
    std::vector<PerBucket> begins_; ///< by process, of the buckets that came from it
    AlignedVector<Key> split_, received_;
};

} // namespace kumiki::kernels::is
