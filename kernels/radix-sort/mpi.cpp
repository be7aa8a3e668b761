#include <mpi.h>

#include <climits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/common/mpi_job.hpp"
#include "kernels/common/range.hpp"
#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/scatter.hpp"
#include "kernels/radix-sort/task.hpp"

// The plain MPI form: one process per core, the same split by the leading digit and the same local sort, with
// MPI_Alltoallv between.

namespace kumiki::kernels::radix_sort {
namespace {

/// Counts and displacements of one side of MPI_Alltoallv, which are ints.
struct Layout {
    std::vector<int> counts, begins;

    void append(std::uint64_t count) {
        const std::uint64_t begin = counts.empty() ? 0 : std::uint64_t(begins.back()) + std::uint64_t(counts.back());
        if (begin + count > INT_MAX)
            throw std::runtime_error(
                "a process would hold more than 2^31 - 1 keys, which MPI_Alltoallv cannot count; start more processes");
        begins.push_back(static_cast<int>(begin));
        counts.push_back(static_cast<int>(count));
    }
};

std::uint64_t keys_in(const PerBucket& counts, Range buckets) {
    std::uint64_t keys = 0;
    for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) keys += counts[bucket];
    return keys;
}

class MpiSort {
public:
    MpiSort(const MpiJob& job, Kernel kernel, std::span<const Key> keys)
        : job_(job),
          keys_(keys),
          local_sort_(kernel),
          rank_counts_(static_cast<std::size_t>(job.size())),
          split_(keys.size()) {}

    /// Sorts once; returns this process's times.
    RunTimes run() {
        Phases phases;
        job_.barrier();
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        const PerBucket own = count_in_buckets(keys_, LeadingDigit());
        phases.enter(Phase::communication);
        share_counts(own);
        phases.enter(Phase::computation);
        plan_ = BucketPlan(rank_counts_);
        split(own);
        make_room();
        phases.enter(Phase::communication);
        exchange(own);
        phases.enter(Phase::computation);
        assemble_and_sort();
        phases.enter(Phase::synchronisation);
        job_.barrier();
        phases.stop();
        return {measure::seconds_since(start), phases};
    }

    MessageSizes messages() const { return message_sizes(rank_counts_, plan_); }
    std::span<const Key> sorted() const { return std::span(sorted_).first(plan_.keys_of(job_.rank())); }

private:
    void share_counts(const PerBucket& own) {
        MPI_Allgather(own.data(), bucket_count, MPI_UINT64_T, rank_counts_.data(), bucket_count, MPI_UINT64_T,
                      MPI_COMM_WORLD);
    }

    /// Orders this process's keys by bucket, and so by destination.
    void split(const PerBucket& own) {
        PerBucket places;
        std::exclusive_scan(own.begin(), own.end(), places.begin(), std::uint64_t{0});
        scatter_(keys_, places, [&](std::size_t, std::uint64_t begin, std::span<const Key> run) {
            std::ranges::copy(run, split_.begin() + static_cast<std::ptrdiff_t>(begin));
        });
    }

    void make_room() {
        const std::uint64_t needed = plan_.keys_of(job_.rank());
        if (received_.size() >= needed) return;
        received_.resize(needed);
        sorted_.resize(needed);
    }

    void exchange(const PerBucket& own) {
        Layout outgoing;
        incoming_ = {};
        for (int other = 0; other < job_.size(); ++other) {
            outgoing.append(keys_in(own, plan_.buckets_of(other)));
            incoming_.append(keys_in(rank_counts_[static_cast<std::size_t>(other)], plan_.buckets_of(job_.rank())));
        }
        MPI_Alltoallv(split_.data(), outgoing.counts.data(), outgoing.begins.data(), MPI_UINT32_T, received_.data(),
                      incoming_.counts.data(), incoming_.begins.data(), MPI_UINT32_T, MPI_COMM_WORLD);
    }

    /// The parts of a bucket that came from different processes lie apart; each bucket is put together and sorted while
    /// it is in the cache.
    void assemble_and_sort() {
        std::vector<std::size_t> next(incoming_.begins.begin(), incoming_.begins.end());
        const Range buckets = plan_.buckets_of(job_.rank());
        for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) {
            auto place = sorted_.begin() + static_cast<std::ptrdiff_t>(plan_.begins()[bucket]);
            for (std::size_t source = 0; source < next.size(); ++source) {
                const std::size_t count = rank_counts_[source][bucket];
                place = std::ranges::copy(std::span(received_).subspan(next[source], count), place).out;
                next[source] += count;
            }
            local_sort_(std::span(sorted_).subspan(plan_.begins()[bucket], plan_.sizes()[bucket]));
        }
    }

    const MpiJob& job_;
    std::span<const Key> keys_;
    LocalSort local_sort_;
    Scatter scatter_;
    std::vector<PerBucket> rank_counts_;
    BucketPlan plan_;
    Layout incoming_;
    std::vector<Key> split_, received_, sorted_;
};

/// Every process's `own`, in rank order.
template <class T>
std::vector<T> gather_at_all(const MpiJob& job, const T& own) {
    std::vector<T> gathered(static_cast<std::size_t>(job.size()));
    MPI_Allgather(&own, sizeof(T), MPI_BYTE, gathered.data(), sizeof(T), MPI_BYTE, MPI_COMM_WORLD);
    return gathered;
}

int run(const MpiJob& job, const Task& task) {
    const Range own = share(task.keys, static_cast<std::size_t>(job.size()), static_cast<std::size_t>(job.rank()));
    std::vector<Key> keys(own.size());
    generate(task.distribution, own.begin, task.keys, keys);
    Fingerprint wanted;
    for (const Fingerprint& part : gather_at_all(job, fingerprint(keys))) wanted += part;

    MpiSort sort(job, task.kernel, keys);
    Outcome outcome;
    const auto run_once = [&] {
        const RunTimes times = sort.run();
        outcome.valid &= is_sorted_whole(gather_at_all(job, inspect(sort.sorted())), wanted);
        outcome.messages.push_back(sort.messages());
        return job.largest(times);
    };
    outcome.runs = sample_runs(task.budget, run_once, [&](bool more) { return job.agree(more); });
    outcome.messages.erase(outcome.messages.begin()); // of the warm-up
    const JobReport report = report_of(task, KUMIKI_PEER_NAME, job.size(), 1);
    if (job.rank() == 0) return conclude(task, report, outcome);
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace
} // namespace kumiki::kernels::radix_sort

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "radix-sort-" KUMIKI_PEER_NAME;
    const auto task = radix_sort::parse_mpi_task(name, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) { return radix_sort::run(job, task); });
}
