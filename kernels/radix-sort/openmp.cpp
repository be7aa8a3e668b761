#include <omp.h>

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/range.hpp"
#include "kernels/common/scatter.hpp"
#include "kernels/radix-sort/digit.hpp"
#include "kernels/radix-sort/forms.hpp"
#include "kernels/radix-sort/single_process.hpp"

// The form for threads only, as one writes it with OpenMP: the peer that the hybrid form with one rank is compared
// with.

namespace kumiki::kernels::radix_sort {
namespace {

/// The part of `keys` that is the calling thread's.
std::span<Key> own_part(std::span<Key> keys) {
    const Range range = share(keys.size(), static_cast<std::size_t>(omp_get_num_threads()),
                              static_cast<std::size_t>(omp_get_thread_num()));
    return keys.subspan(range.begin, range.size());
}

/// Where each bucket begins, and at the end the number of keys.
std::vector<std::size_t> bucket_begins(std::span<const PerBucket> counts) {
    std::vector<std::size_t> begins(bucket_count + 1, 0);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        begins[bucket + 1] = begins[bucket];
        for (const PerBucket& count : counts) begins[bucket + 1] += count[bucket];
    }
    return begins;
}

/// Where thread number `thread` writes its keys: buckets in order, in each bucket the threads in order.
PerBucket places_of(std::span<const PerBucket> counts, std::span<const std::size_t> begins, int thread) {
    PerBucket places;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        places[bucket] = begins[bucket];
        for (int before = 0; before < thread; ++before)
            places[bucket] += counts[static_cast<std::size_t>(before)][bucket];
    }
    return places;
}

class Master {
public:
    explicit Master(Phases& phases) : phases_(phases) {}
    void enter(Phase phase) {
        if (omp_get_thread_num() == 0) phases_.enter(phase);
    }

private:
    Phases& phases_;
};

/// Splits by the leading digit, then sorts bucket after bucket.
class SplitSort {
public:
    SplitSort(Kernel kernel, int threads, std::size_t keys)
        : counts_(static_cast<std::size_t>(threads)), scatters_(counts_.size()), split_(keys) {
        for (int thread = 0; thread < threads; ++thread) local_sorts_.emplace_back(kernel);
    }

    std::span<const Key> operator()(std::span<Key> keys, Phases& phases) {
        Master master(phases);
#pragma omp parallel num_threads(static_cast<int>(counts_.size()))
        {
            const int thread = omp_get_thread_num();
            const auto own = static_cast<std::size_t>(thread);
            const std::span<const Key> part = own_part(keys);
            counts_[own] = count_in_buckets(part, LeadingDigit());
            master.enter(Phase::synchronisation);
#pragma omp barrier
            master.enter(Phase::computation);
            const auto begins = bucket_begins(counts_);
            scatters_[own](part, places_of(counts_, begins, thread),
                           [&](std::size_t, std::uint64_t place, std::span<const Key> run) {
                               std::ranges::copy(run, split_.begin() + static_cast<std::ptrdiff_t>(place));
                           });
            master.enter(Phase::synchronisation);
#pragma omp barrier
            master.enter(Phase::computation);
#pragma omp for schedule(dynamic) nowait
            for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
                local_sorts_[own](std::span(split_).subspan(begins[bucket], begins[bucket + 1] - begins[bucket]));
            master.enter(Phase::synchronisation);
        }
        return split_;
    }

private:
    std::vector<PerBucket> counts_;
    std::vector<Scatter> scatters_;
    std::vector<LocalSort> local_sorts_;
    std::vector<Key> split_;
};

/// Distributes all keys by one digit after another, the least significant first.
class DigitSort {
public:
    DigitSort(int threads, std::size_t keys) : counts_(static_cast<std::size_t>(threads)), other_(keys) {}

    std::span<const Key> operator()(std::span<Key> keys, Phases& phases) {
        static_assert(key_digits % 2 == 0, "the keys end where they began after an even number of passes");
        Master master(phases);
#pragma omp parallel num_threads(static_cast<int>(counts_.size()))
        {
            const int thread = omp_get_thread_num();
            std::span<Key> from = keys, to = other_;
            for (int place = 0; place < key_digits; ++place) {
                const std::span<const Key> part = own_part(from);
                PerBucket count{};
                for (const Key key : part) ++count[digit(key, place)];
                counts_[static_cast<std::size_t>(thread)] = count;
                master.enter(Phase::synchronisation);
#pragma omp barrier
                master.enter(Phase::computation);
                PerBucket next = places_of(counts_, bucket_begins(counts_), thread);
                for (const Key key : part) to[next[digit(key, place)]++] = key;
                master.enter(Phase::synchronisation);
#pragma omp barrier
                master.enter(Phase::computation);
                std::swap(from, to);
            }
        }
        return keys;
    }

private:
    std::vector<PerBucket> counts_;
    std::vector<Key> other_;
};

} // namespace

int run_openmp(const Task& task) {
    const int threads = task.threads_or_all_cores();
    const Outcome outcome = task.kernel == Kernel::plain
                                ? measure_in_one_process(task, DigitSort(threads, task.keys))
                                : measure_in_one_process(task, SplitSort(task.kernel, threads, task.keys));
    return conclude(task, report_of(task, "openmp", 1, threads), outcome);
}

} // namespace kumiki::kernels::radix_sort
