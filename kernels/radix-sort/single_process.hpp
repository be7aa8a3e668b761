#pragma once

#include <algorithm>
#include <vector>

#include "kernels/radix-sort/task.hpp"

namespace kumiki::kernels::radix_sort {

/// Runs sort(keys, phases) -> span of the sorted keys as often as the budget allows, each time on a fresh copy of the
/// task's keys, and checks every result. Copy and check lie outside the measured time.
template <class Sort>
Outcome measure_in_one_process(const Task& task, Sort sort) {
    std::vector<Key> original(task.keys);
    generate(task.distribution, 0, task.keys, original);
    const Fingerprint wanted = fingerprint(original);
    std::vector<Key> keys(task.keys);
    Outcome outcome;
    outcome.runs = sample_runs(task.budget, [&] {
        std::ranges::copy(original, keys.begin());
        Phases phases;
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        const std::span<const Key> sorted = sort(std::span(keys), phases);
        phases.stop();
        const RunTimes times(measure::seconds_since(start), phases);
        const Inspection inspection = inspect(sorted);
        outcome.valid &= is_sorted_whole(std::span(&inspection, 1), wanted);
        return times;
    });
    return outcome;
}

} // namespace kumiki::kernels::radix_sort
