#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/scatter.hpp"
#include "kernels/common/settle.hpp"
#include "kernels/common/working_threads.hpp"
#include "kernels/radix-sort/forms.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

// The hybrid form: ranks exchange keys by their leading digit, the threads of a rank share its buckets.

namespace kumiki::kernels::radix_sort {
namespace {

class HybridSort {
public:
    /// Collective. `keys` are this rank's; they stay as they are.
    HybridSort(Job& job, Team& team, Kernel kernel, std::span<const Key> keys)
        : job_(job),
          team_(team),
          keys_(keys),
          rank_counts_(job.allocate<PerBucket>(static_cast<std::size_t>(job.size()))),
          workers_(static_cast<std::size_t>(team.size())) {
        for (Worker& worker : workers_) worker.local_sort.emplace(kernel);
    }

    /// Sorts once; returns this rank's times.
    RunTimes run() {
        Phases phases;
        job_.barrier();
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        team_.run([&](Member& member) { count(member); });
        share_counts(phases);
        make_room();
        phases.enter(Phase::communication);
        next_bucket_ = own_buckets().begin;
        team_.run([&](Member& member) { exchange_and_sort(member, phases); });
        phases.enter(Phase::synchronisation);
        job_.barrier();
        phases.stop();
        return {measure::seconds_since(start), phases};
    }

    MessageSizes messages() const { return message_sizes(rank_counts_.span(), plan_); }

    /// This rank's part of the result.
    std::span<const Key> sorted() const {
        return sorted_ ? sorted_->span().first(plan_.keys_of(job_.rank())) : std::span<const Key>();
    }

private:
    /// What a thread has for itself.
    struct Worker {
        PerBucket counts{};
        Scatter scatter;
        std::optional<LocalSort> local_sort;
    };

    Worker& worker(const Member& member) { return workers_[static_cast<std::size_t>(member.thread())]; }
    std::span<const Key> part(const Member& member) const {
        const Part part = member.part(keys_.size());
        return keys_.subspan(part.begin, part.size());
    }
    Range own_buckets() const { return plan_.buckets_of(job_.rank()); }

    void count(Member& member) { worker(member).counts = count_in_buckets(part(member), LeadingDigit()); }

    /// After it every rank knows how many keys each rank has in each bucket, and so where everybody's keys go.
    void share_counts(Phases& phases) {
        PerBucket& own = rank_counts_[static_cast<std::size_t>(job_.rank())];
        own.fill(0);
        for (const Worker& worker : workers_) advance(own, worker.counts);
        phases.enter(Phase::communication);
        for (int rank = 0; rank < job_.size(); ++rank)
            if (rank != job_.rank()) job_.put(rank, own.data(), own);
        phases.enter(Phase::synchronisation);
        job_.barrier();
        phases.enter(Phase::computation);
        plan_ = BucketPlan(rank_counts_.span());
    }

    /// The room for the result is agreed upon by all ranks, because a place in it must exist at every rank: it grows to
    /// what the rank with the most keys needs. With the same keys again it is large enough.
    void make_room() {
        const std::uint64_t needed = std::max<std::uint64_t>(plan_.most_keys(), 1);
        if (sorted_ && sorted_->size() >= needed) return;
        sorted_.reset();
        sorted_.emplace(job_.allocate<Key>(needed));
    }

    void exchange_and_sort(Member& member, Phases& phases) {
        worker(member).scatter(part(member), places(member),
                               [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
                                   job_.put(plan_.owner(bucket), sorted_->data() + place, run);
                               });
        if (member.master()) phases.enter(Phase::synchronisation);
        member.barrier_all();
        if (member.master()) phases.enter(Phase::computation);
        sort_buckets(*worker(member).local_sort);
    }

    /// Where this thread's keys go: behind those of the ranks before, and of this rank's threads before.
    PerBucket places(const Member& member) const {
        PerBucket places = plan_.places(rank_counts_.span(), job_.rank());
        for (int thread = 0; thread < member.thread(); ++thread)
            advance(places, workers_[static_cast<std::size_t>(thread)].counts);
        return places;
    }

    /// The threads take one bucket after another, so that one that is held up delays the others by a bucket at most.
    void sort_buckets(LocalSort& local_sort) {
        for (std::size_t bucket; (bucket = next_bucket_.fetch_add(1, std::memory_order_relaxed)) < own_buckets().end;)
            local_sort(sorted_->span().subspan(plan_.begins()[bucket], plan_.sizes()[bucket]));
    }

    Job& job_;
    Team& team_;
    std::span<const Key> keys_;
    Region<PerBucket> rank_counts_; ///< by rank
    std::vector<Worker> workers_;
    BucketPlan plan_;
    std::optional<Region<Key>> sorted_;
    std::atomic<std::size_t> next_bucket_{0};
};

/// Every rank's `own`, in rank order.
template <class T>
std::vector<T> gather_at_all(Job& job, const T& own) {
    const std::vector<T> copies(static_cast<std::size_t>(job.size()), own);
    std::vector<T> gathered(copies.size());
    job.all_to_all(std::span<const T>(copies), std::span<T>(gathered));
    return gathered;
}

Fingerprint total(std::span<const Fingerprint> parts) {
    Fingerprint sum;
    for (const Fingerprint& part : parts) sum += part;
    return sum;
}

} // namespace

int run_hybrid(const Task& task) {
    Job job;
    Team team(job, working_threads(job, task.all_threads));
    const Part own = part_of(task.keys, job.size(), job.rank());
    std::vector<Key> keys(own.size());
    generate(task.distribution, own.begin, task.keys, keys);
    const Fingerprint wanted = total(gather_at_all(job, fingerprint(keys)));

    HybridSort sort(job, team, task.kernel, keys);
    Outcome outcome;
    const auto run = [&] {
        const RunTimes times = sort.run();
        outcome.valid &= is_sorted_whole(gather_at_all(job, inspect(sort.sorted())), wanted);
        outcome.messages.push_back(sort.messages());
        return largest(job, times);
    };
    outcome.runs = sample_runs(task.budget, run, [&](bool more) { return agreed(job, more); });
    outcome.messages.erase(outcome.messages.begin()); // of the warm-up
    JobReport report = report_of(task, "kumiki", job.size(), job.threads());
    report.oversubscribed = job.oversubscribed();
    tell_working(report, job.threads(), team.size());
    if (job.rank() == 0) return conclude(task, report, outcome);
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::radix_sort
