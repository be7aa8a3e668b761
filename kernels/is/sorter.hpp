#pragma once

#include <memory>
#include <vector>

#include "kernels/crews/crew.hpp"
#include "kernels/crews/key_exchange.hpp"
#include "kernels/is/problem.hpp"
#include "kernels/is/ranks.hpp"

namespace kumiki::kernels::is {

/// The benchmark on the workers of a crew: every worker has a contiguous part of the keys, and ranks those of
/// contiguous buckets.
template <Crew C>
class Sorter {
public:
    using Worker = typename C::Worker;
    using KeyExchange = typename C::KeyExchange;
    static_assert(KeyExchangeBetween<KeyExchange, Worker>);

    /// Collective.
    Sorter(C& crew, const Problem& problem)
        : crew_(crew), problem_(problem), exchange_(crew), desks_(static_cast<std::size_t>(crew.local_size())) {
        crew.run([&](Worker& worker) { set_up(worker); });
    }

    /// Performs ten iterations, from the original keys; returns the times of the job.
    RunTimes run() {
        crew_.run([&](Worker& worker) { desk(worker).restore(); });
        return crew_.run([&](Worker& worker) {
            std::uint64_t passed = 0;
            for (int iteration = 1; iteration <= Problem::iterations; ++iteration) {
                rank_keys(worker, iteration);
                passed += partial_verification(worker, iteration);
            }
            worker.enter(Phase::synchronisation);
            passed = worker.sum(passed);
            if (worker.local() == 0) passed_ = passed;
        });
    }

    /// Whether the last run had the published rank of every test key after every iteration.
    bool verified() const { return passed_ == problem_.test_keys.size() * Problem::iterations; }

    /// Whether the ranks of the last iteration put its keys in order. Collective.
    bool fully_verified() {
        bool verified = false;
        crew_.run([&](Worker& worker) {
            const Inspection own = inspect(worker);
            const std::uint64_t in_order = worker.sum(std::uint64_t{own.in_order});
            const std::uint64_t difference = worker.sum(own.difference);
            if (worker.local() == 0) verified = in_order == static_cast<std::uint64_t>(crew_.size()) && difference == 0;
        });
        return verified;
    }

private:
    /// The private data of a worker.
    struct Desk {
        Desk(const Problem& problem, Range part)
            : keys(part), scatter(problem.bucket_of()), ranks(problem.bucket_of()), values(part.size()) {
            problem.generate(part.begin, values);
            const std::size_t changing = part.begin < Problem::changing ? Problem::changing - part.begin : 0;
            original.assign(values.begin(), values.begin() + std::min(changing, values.size()));
        }
        void restore() { std::ranges::copy(original, values.begin()); }

        Range keys; ///< by index in the sequence
        Scatter scatter;
        Ranks ranks;
        BucketPlan plan;
        std::vector<Key> values;
        std::vector<Key> original; ///< the first keys, some of which are changed
    };

    Desk& desk(const Worker& worker) { return *desks_[static_cast<std::size_t>(worker.local())]; }

    void set_up(Worker& worker) {
        const Range part =
            share(problem_.count(), static_cast<std::size_t>(crew_.size()), static_cast<std::size_t>(worker.index()));
        desks_[static_cast<std::size_t>(worker.local())] = std::make_unique<Desk>(problem_, part);
        std::array<Key, 5> found{};
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::uint64_t index = problem_.test_keys[i].index;
            const bool own = index >= part.begin && index < part.end;
            found[i] = static_cast<Key>(worker.sum(own ? std::uint64_t{desk(worker).values[index - part.begin]} : 0));
        }
        if (worker.local() == 0) test_keys_ = found;
    }

    /// One iteration, the benchmark's timed part.
    void rank_keys(Worker& worker, int iteration) {
        Desk& own = desk(worker);
        for (const auto& [index, key] : problem_.changes(iteration))
            if (index >= own.keys.begin && index < own.keys.end) own.values[index - own.keys.begin] = key;
        const auto counts = exchange_.share(worker, count_in_buckets(own.values, problem_.bucket_of()));
        own.plan = BucketPlan(counts);
        exchange_.distribute(worker, own.plan, {own.values, counts, own.scatter});
        const Range buckets = own.plan.buckets_of(worker.index());
        own.ranks.begin(buckets);
        std::uint64_t smaller = own.plan.keys_before(worker.index());
        for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) {
            exchange_.visit(worker, own.plan, bucket,
                            [&](std::span<const Key> keys) { own.ranks.count(bucket, keys); });
            own.ranks.finish(bucket, smaller);
            smaller += own.plan.sizes()[bucket];
        }
    }

    /// The number of test keys that belong to this worker and have the published rank.
    std::uint64_t partial_verification(Worker& worker, int iteration) {
        Ranks& ranks = desk(worker).ranks;
        std::uint64_t passed = 0;
        for (std::size_t i = 0; i < test_keys_.size(); ++i)
            if (ranks.has(test_keys_[i]) &&
                std::int64_t{ranks[test_keys_[i]]} == problem_.test_keys[i].rank_after(iteration))
                ++passed;
        return passed;
    }

    /// Puts this worker's keys in the order of their ranks. Returns whether they fill their places in ascending order,
    /// and the fingerprint of the keys that the worker had before minus that of those that it has now; over all workers
    /// these differences cancel.
    struct Inspection {
        bool in_order;
        std::uint64_t difference;
    };
    Inspection inspect(Worker& worker) {
        Desk& own = desk(worker);
        Arrangement arrangement(own.ranks, own.plan.keys_before(worker.index()), own.plan.keys_of(worker.index()));
        const Range buckets = own.plan.buckets_of(worker.index());
        for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket)
            exchange_.visit(worker, own.plan, bucket, [&](std::span<const Key> keys) { arrangement.place(keys); });
        return {arrangement.complete(), fingerprint(own.values) - fingerprint(arrangement.keys())};
    }

    C& crew_;
    Problem problem_;
    KeyExchange exchange_;
    std::vector<std::unique_ptr<Desk>> desks_; ///< by worker of this process
    std::array<Key, 5> test_keys_{};
    std::uint64_t passed_ = 0;
};

} // namespace kumiki::kernels::is
