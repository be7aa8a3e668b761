#pragma once

#include <array>
#include <numeric>
#include <vector>

#include "kernels/crews/message/message_crew.hpp"
#include "kernels/crews/key_exchange.hpp"
#include "kernels/crews/whole_buckets.hpp"

namespace kumiki::kernels {

/// Messages between all workers, from a buffer in which the keys are arranged by bucket. A worker sends its keys to
/// another one in several messages, by groups of buckets: while the keys of one group are counted, those of the next
/// are under way (the overlap of Maestro's IS).
class MessageCrew::KeyExchange {
public:
    explicit KeyExchange(MessageCrew& crew)
        : job_(crew.job()), threads_(crew.local_size()), desks_(static_cast<std::size_t>(threads_)) {
        for (Desk& desk : desks_) {
            desk.counts.resize(static_cast<std::size_t>(crew.size()));
            desk.begins.resize(desk.counts.size());
        }
    }

    std::span<const PerBucket> share(Worker& worker, const PerBucket& counts) {
        worker.enter(Phase::communication);
        Desk& own = desk(worker);
        own.counts[static_cast<std::size_t>(worker.index())] = counts;
        std::vector<Request> requests;
        for_others(worker, [&](int other) {
            requests.push_back(receive(worker, other, for_counts, own.counts[static_cast<std::size_t>(other)]));
            requests.push_back(send(worker, other, for_counts, counts));
        });
        wait_all(requests);
        worker.enter(Phase::computation);
        return own.counts;
    }
    void distribute(Worker& worker, const BucketPlan& plan, const Shipment& shipment) {
        Desk& own = desk(worker);
        worker.enter(Phase::communication);
        wait_all(own.sends); // those of the previous sort, which still need the buffer
        own.sends.clear();
        expect(worker, plan);
        worker.enter(Phase::computation);
        own.split.resize(shipment.keys.size());
        std::exclusive_scan(counts_of(own, worker.index()).begin(), counts_of(own, worker.index()).end(),
                            own.places.begin(), std::uint64_t{0});
        shipment.scatter(shipment.keys, own.places, [&](std::size_t, std::uint64_t place, std::span<const Key> run) {
            std::ranges::copy(run, &own.split[place]);
        });
        worker.enter(Phase::communication);
        for (int group = 0; group < groups; ++group)
            for_others(worker, [&](int other) {
                const Range buckets = group_of(plan.buckets_of(other), group);
                const std::uint64_t keys = keys_in(counts_of(own, worker.index()), buckets);
                if (keys == 0) return;
                own.sends.push_back(send(worker, other, group,
                                         std::span<const Key>(own.split).subspan(own.places[buckets.begin], keys)));
            });
        worker.enter(Phase::computation);
    }
    template <class Read>
    void visit(Worker& worker, const BucketPlan& plan, std::size_t bucket, Read read) {
        Desk& own = desk(worker);
        const Range buckets = plan.buckets_of(worker.index());
        for (; own.arrived < groups && bucket >= group_of(buckets, own.arrived).begin; ++own.arrived) {
            worker.enter(Phase::communication);
            wait_all(own.receives[static_cast<std::size_t>(own.arrived)]);
            own.receives[static_cast<std::size_t>(own.arrived)].clear();
            worker.enter(Phase::computation);
        }
        for (std::size_t source = 0; source < own.counts.size(); ++source) {
            const bool itself = source == static_cast<std::size_t>(worker.index());
            const std::span<const Key> keys(itself ? own.split : own.received);
            read(keys.subspan(itself ? own.places[bucket] : own.begins[source][bucket], own.counts[source][bucket]));
        }
    }

    template <class Change>
    void for_whole_buckets(Worker& worker, const BucketPlan& plan, Change change) {
        desk(worker).whole.assemble(
            plan, worker.index(), [&](std::size_t bucket, auto read) { visit(worker, plan, bucket, read); }, change);
    }
    std::span<const Key> kept(const Worker& worker, const BucketPlan& plan) {
        return desk(worker).whole.keys(plan, worker.index());
    }

private:
    static constexpr int groups = 8, for_counts = groups;

    /// The data of one thread.
    struct Desk {
        std::vector<PerBucket> counts; ///< by worker
        std::vector<PerBucket> begins; ///< by worker, of the buckets that come from it, in `received`
        PerBucket places{};            ///< of the own keys' buckets in `split`
        std::vector<Key> split, received;
        std::array<std::vector<Request>, groups> receives; ///< by group of the own buckets
        int arrived = groups;                              ///< groups whose receives are complete
        std::vector<Request> sends;
        WholeBuckets whole;
    };

    Desk& desk(const Worker& worker) { return desks_[static_cast<std::size_t>(worker.local())]; }
    static const PerBucket& counts_of(const Desk& desk, int worker) {
        return desk.counts[static_cast<std::size_t>(worker)];
    }
    static Range group_of(Range buckets, int group) {
        const Range part = kernels::share(buckets.size(), groups, static_cast<std::size_t>(group));
        return {buckets.begin + part.begin, buckets.begin + part.end};
    }

    /// Calls visit(other) for all workers but this one, each beginning with a different one.
    template <class Visit>
    void for_others(const Worker& worker, Visit visit) {
        const int workers = static_cast<int>(desks_.front().counts.size());
        for (int distance = 1; distance < workers; ++distance) visit((worker.index() + distance) % workers);
    }

    /// Between any two threads: a tag identifies both within their ranks, and the contents of the message.
    int tag(int from, int to, int about) const {
        return (about * threads_ + from % threads_) * threads_ + to % threads_;
    }
    template <class Data>
    Request send(const Worker& worker, int to, int about, const Data& data) {
        return job_.send(to / threads_, tag(worker.index(), to, about), data);
    }
    template <class Data>
    Request receive(const Worker& worker, int from, int about, Data&& into) {
        return job_.receive(from / threads_, tag(from, worker.index(), about), into);
    }

    /// Starts the receives of all keys of the own buckets, which arrive separately from each worker.
    void expect(const Worker& worker, const BucketPlan& plan) {
        Desk& own = desk(worker);
        own.received.resize(std::max<std::size_t>(own.received.size(), plan.keys_of(worker.index())));
        std::size_t end = 0;
        for_others(worker, [&](int other) {
            for (int group = 0; group < groups; ++group) {
                const std::size_t begin = end;
                const Range buckets = group_of(plan.buckets_of(worker.index()), group);
                for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) {
                    own.begins[static_cast<std::size_t>(other)][bucket] = end;
                    end += counts_of(own, other)[bucket];
                }
                if (end > begin)
                    own.receives[static_cast<std::size_t>(group)].push_back(
                        receive(worker, other, group, std::span(own.received).subspan(begin, end - begin)));
            }
        });
        own.arrived = 0;
    }

    Job& job_;
    int threads_;
    std::vector<Desk> desks_; ///< by thread
};

} // namespace kumiki::kernels
