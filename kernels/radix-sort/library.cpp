#include "kernels/radix-sort/library.hpp"

#if KUMIKI_HAS_TBB
#include <tbb/global_control.h>

#include <execution>
#endif
#include <algorithm>
#include <stdexcept>

namespace kumiki::kernels::radix_sort {
namespace {

/// Runs sort(keys) as often as the budget allows, each time on a fresh copy of the task's keys, and checks every
/// result. Copying and checking are outside the measured time.
template <class Sort>
int measure_sort(const Task& task, const Workers& workers, Sort sort) {
    std::vector<Key> original(task.keys);
    generate(task.distribution, 0, task.keys, original);
    const Fingerprint wanted = fingerprint(original);
    std::vector<Key> keys(task.keys);
    SequentialCrew crew;
    bool valid = true;
    const auto runs = sample_crew(crew, task.budget, [&] {
        std::ranges::copy(original, keys.begin());
        const RunTimes times = crew.run([&](const auto&) { sort(std::span(keys)); });
        const Inspection inspection = inspect(keys);
        valid &= is_sorted_whole(std::span(&inspection, 1), wanted);
        return times;
    });
    return conclude(crew, report_of(task, workers), runs, valid);
}

/// Highway has no threads: one vector sort sorts everything.
int measure_highway(Task task) {
    task.kernel = Kernel::vector;
    LocalSort local_sort(task.kernel);
    return measure_sort(task, {"highway", "library"}, [&](std::span<Key> keys) { local_sort(keys); });
}

#if KUMIKI_HAS_TBB
int measure_tbb(Task task) {
    task.kernel = Kernel::plain;
    const int threads = task.choice.threads_or_all_cores();
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    return measure_sort(task, {"tbb", "library", 1, threads, exceeds_cores(threads)},
                        [](std::span<Key> keys) { std::sort(std::execution::par, keys.begin(), keys.end()); });
}
constexpr bool has_tbb = true;
#else
int measure_tbb(const Task&) { return measure::success; }
constexpr bool has_tbb = false;
#endif

} // namespace

int measure_libraries(const Task& task) {
    if (!has_vector_kernel() && !has_tbb)
        throw std::runtime_error(
            "this build knows no library sort: install Highway (libhwy-dev) or TBB (libtbb-dev) and build again");
    const int highway = has_vector_kernel() ? measure_highway(task) : measure::success;
    return std::max(highway, measure_tbb(task));
}

} // namespace kumiki::kernels::radix_sort
