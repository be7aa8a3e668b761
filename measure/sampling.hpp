#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "measure/interval.hpp"

namespace CLI {
class App;
}

namespace kumiki::measure {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// When a program stops taking samples: when all figures that follow from them have settled (measure/interval.hpp), or
/// else when there are `samples` of them or `seconds` have passed. But it takes at least `fewest`, however long that
/// takes, because fewer samples allow no verdict.
struct Budget {
    std::size_t samples = 200;
    double seconds = 1.0;
    std::size_t fewest = fewest_to_settle; ///< unless `samples` is lower

    /// Adds --samples and --seconds to a program's options.
    void add_to(CLI::App& program);

    /// Whether to continue after `taken` samples; all_settled() -> bool is called only if it decides.
    template <class AllSettled>
    bool wants_more(std::size_t taken, Clock::time_point start, AllSettled all_settled) const {
        if (taken < std::min(fewest, samples)) return true;
        return taken < samples && seconds_since(start) < seconds && !all_settled();
    }
};

/// Calls take() once to warm up, and then as often as the budget allows; returns the results in order, without the
/// warm-up. all_settled(span of results) -> bool tells whether they suffice. agree(bool) -> bool passes rank 0's
/// decision to all ranks of a job (a broadcast): the results of rank 0 count for the job.
template <class Take, class AllSettled, class Agree>
auto sample_until(const Budget& budget, Take take, AllSettled all_settled, Agree agree) {
    using Sample = std::invoke_result_t<Take>;
    take();
    std::vector<Sample> taken;
    const auto enough = [&] { return all_settled(std::span<const Sample>(taken)); };
    for (const auto start = Clock::now(); agree(budget.wants_more(taken.size(), start, enough));)
        taken.push_back(take());
    return taken;
}

/// One figure of each sample, for a row.
template <class Sample, class Figure>
std::vector<double> figures_of(std::span<const Sample> samples, Figure figure) {
    std::vector<double> figures;
    figures.reserve(samples.size());
    for (const Sample& sample : samples) figures.push_back(figure(sample));
    return figures;
}

} // namespace kumiki::measure
