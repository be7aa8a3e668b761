#pragma once

#include <climits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kernels/crews/mpi/mpi_crew.hpp"
#include "kernels/crews/key_exchange.hpp"
#include "kernels/crews/whole_buckets.hpp"

namespace kumiki::kernels {

/// MPI_Alltoallv between processes, from a buffer in which the keys are arranged by bucket. Keys from different
/// processes arrive in separate places.
class MpiCrew::KeyExchange {
public:
    explicit KeyExchange(MpiCrew& crew) : counts_(static_cast<std::size_t>(crew.size())), begins_(counts_.size()) {}

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
        received_.resize(std::max<std::size_t>(received_.size(), plan.keys_of(worker.index())));
        PerBucket places;
        std::exclusive_scan(own.begin(), own.end(), places.begin(), std::uint64_t{0});
        shipment.scatter(shipment.keys, places, [&](std::size_t, std::uint64_t place, std::span<const Key> run) {
            std::ranges::copy(run, &split_[place]);
        });
        const Range received_buckets = plan.buckets_of(worker.index());
        Layout outgoing, incoming;
        for (int other = 0; other < static_cast<int>(counts_.size()); ++other) {
            outgoing.append(keys_in(own, plan.buckets_of(other)));
            incoming.append(keys_in(shipment.counts[static_cast<std::size_t>(other)], received_buckets));
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
    template <class Read>
    void visit(const Worker&, const BucketPlan&, std::size_t bucket, Read read) {
        for (std::size_t source = 0; source < counts_.size(); ++source)
            read(std::span<const Key>(received_).subspan(begins_[source][bucket], counts_[source][bucket]));
    }
    template <class Change>
    void for_whole_buckets(const Worker& worker, const BucketPlan& plan, Change change) {
        whole_.assemble(
            plan, worker.index(), [&](std::size_t bucket, auto read) { visit(worker, plan, bucket, read); }, change);
    }
    std::span<const Key> kept(const Worker& worker, const BucketPlan& plan) {
        return whole_.keys(plan, worker.index());
    }

private:
    /// One side of MPI_Alltoallv: a count and a displacement, which are ints, for each process.
    struct Layout {
        std::vector<int> counts, begins;
        void append(std::uint64_t count) {
            const auto begin = counts.empty() ? 0 : std::uint64_t(begins.back()) + std::uint64_t(counts.back());
            if (begin + count > INT_MAX)
                throw std::runtime_error("a process would hold more than 2^31 - 1 keys, which MPI_Alltoallv cannot "
                                         "count; start more processes");
            begins.push_back(static_cast<int>(begin));
            counts.push_back(static_cast<int>(count));
        }
    };

    std::vector<PerBucket> counts_; ///< by process
    std::vector<PerBucket> begins_; ///< by process, of the buckets that came from it
    AlignedVector<Key> split_, received_;
    WholeBuckets whole_;
};

} // namespace kumiki::kernels
