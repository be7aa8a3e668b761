#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/crews/gathered.hpp"
#include "kernels/crews/key_exchange.hpp"
#include "kernels/radix-sort/keys.hpp"
#include "kernels/radix-sort/local_sort.hpp"
#include "kernels/radix-sort/messages.hpp"

namespace kumiki::kernels::radix_sort {

/// The sort on the workers of a crew: every worker has a contiguous part of the keys, and gets those of contiguous
/// buckets, which are sorted one after another.
template <Crew C>
class Sorter {
public:
    using Worker = typename C::Worker;
    using KeyExchange = typename C::KeyExchange;
    static_assert(KeyExchangeBetween<KeyExchange, Worker>);

    /// Collective. All workers together have `total` keys.
    Sorter(C& crew, Kernel kernel, Distribution distribution, std::uint64_t total)
        : crew_(crew), exchange_(crew), desks_(static_cast<std::size_t>(crew.local_size())) {
        // The vector kernel sorts all keys at once faster than bucket after bucket; the plain one does not.
        alone_ = crew.size() == 1 && kernel == Kernel::vector;
        // Every worker generates its own keys, so that they are near it.
        crew.run([&](Worker& worker) {
            auto& own = desks_[static_cast<std::size_t>(worker.local())];
            own = std::make_unique<Desk>(kernel);
            const Range part =
                share(total, static_cast<std::size_t>(crew_.size()), static_cast<std::size_t>(worker.index()));
            own->keys.resize(part.size());
            generate(distribution, part.begin, total, own->keys);
            const Fingerprint all = summed(worker, fingerprint(own->keys));
            if (worker.local() == 0) wanted_ = all;
        });
    }

    /// Sorts once; returns the times of the job.
    RunTimes run() {
        if (alone_) desks_.front()->sorted = desks_.front()->keys; // they are sorted in place
        return crew_.run([&](Worker& worker) { alone_ ? sort_alone(worker) : sort(worker); });
    }

    /// Whether the last run put all keys in order. Collective.
    bool verified() {
        bool verified = false;
        crew_.run([&](Worker& worker) {
            const bool right = is_sorted_whole(inspections(worker), wanted_);
            if (worker.local() == 0) verified = right;
        });
        return verified;
    }

    /// The amounts that the ranks sent to each other in the last run.
    MessageSizes messages() const {
        const Desk& first = *desks_.front();
        return message_sizes(first.counts, first.plan, static_cast<std::size_t>(crew_.local_size()));
    }

private:
    /// The private data of a worker.
    struct Desk {
        explicit Desk(Kernel kernel) : local_sort(kernel) {}

        std::vector<Key> keys;
        Scatter scatter;
        LocalSort local_sort;
        std::span<const PerBucket> counts; ///< of all workers
        BucketPlan plan;
        std::vector<Key> sorted; ///< if there is only one worker
    };

    Desk& desk(const Worker& worker) { return *desks_[static_cast<std::size_t>(worker.local())]; }

    void sort(Worker& worker) {
        Desk& own = desk(worker);
        own.counts = exchange_.share(worker, count_in_buckets(own.keys, LeadingDigit()));
        own.plan = BucketPlan(own.counts);
        exchange_.distribute(worker, own.plan, {own.keys, own.counts, own.scatter});
        exchange_.for_whole_buckets(worker, own.plan, [&](std::span<Key> keys) { own.local_sort(keys); });
    }
    void sort_alone(Worker& worker) { desk(worker).local_sort(desk(worker).sorted); }

    static Fingerprint summed(Worker& worker, const Fingerprint& own) {
        return {worker.sum(own.count), worker.sum(own.sum), worker.sum(own.hash)};
    }
    /// The inspections of all workers.
    std::vector<Inspection> inspections(Worker& worker) {
        const Desk& here = desk(worker);
        const Inspection own = inspect(alone_ ? std::span<const Key>(here.sorted) : exchange_.kept(worker, here.plan));
        const auto of_all = [&](std::uint64_t value) { return gathered(worker, crew_.size(), value); };
        const auto counts = of_all(own.fingerprint.count), sums = of_all(own.fingerprint.sum),
                   hashes = of_all(own.fingerprint.hash), firsts = of_all(own.first), lasts = of_all(own.last),
                   in_order = of_all(own.in_order);
        std::vector<Inspection> all;
        for (std::size_t i = 0; i < counts.size(); ++i)
            all.push_back({{counts[i], sums[i], hashes[i]},
                           static_cast<Key>(firsts[i]),
                           static_cast<Key>(lasts[i]),
                           in_order[i] != 0});
        return all;
    }

    C& crew_;
    bool alone_ = false;
    KeyExchange exchange_;
    std::vector<std::unique_ptr<Desk>> desks_; ///< by worker of this process
    Fingerprint wanted_;                       ///< of all keys
};

} // namespace kumiki::kernels::radix_sort
