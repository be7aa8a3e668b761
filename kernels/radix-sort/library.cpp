#include "kernels/radix-sort/forms.hpp"
#include "kernels/radix-sort/single_process.hpp"
#include "measure/program.hpp"

#if KUMIKI_HAS_TBB
#include <tbb/global_control.h>

#include <algorithm>
#include <execution>
#endif
#include <stdexcept>

// The best library sorts, alone: what one would use who does not want to write a sort.

namespace kumiki::kernels::radix_sort {
namespace {

/// Highway has no threads: one vector sort of everything.
int run_highway(Task task) {
    task.kernel = Kernel::vector;
    LocalSort sort(task.kernel);
    const Outcome outcome = measure_in_one_process(task, [&](std::span<Key> keys, Phases&) {
        sort(keys);
        return keys;
    });
    return conclude(task, report_of(task, "highway", 1, 1), outcome);
}

#if KUMIKI_HAS_TBB
int run_tbb(Task task) {
    task.kernel = Kernel::plain;
    const int threads = task.threads_or_all_cores();
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    const Outcome outcome = measure_in_one_process(task, [](std::span<Key> keys, Phases&) {
        std::sort(std::execution::par, keys.begin(), keys.end());
        return keys;
    });
    return conclude(task, report_of(task, "tbb", 1, threads), outcome);
}
constexpr bool has_tbb = true;
#else
int run_tbb(const Task&) { return measure::success; }
constexpr bool has_tbb = false;
#endif

} // namespace

int run_library(const Task& task) {
    if (!has_vector_kernel() && !has_tbb)
        throw std::runtime_error(
            "this build knows no library sort: install Highway (libhwy-dev) or TBB (libtbb-dev) and build again");
    const int highway = has_vector_kernel() ? run_highway(task) : measure::success;
    return std::max(highway, run_tbb(task));
}

} // namespace kumiki::kernels::radix_sort
