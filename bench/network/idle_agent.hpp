#pragma once

#include "bench/common/clocks.hpp"
#include "bench/common/contest.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// The processor time that the agents take from ranks that compute and receive nothing: the time of all threads except
/// this one, in percent of one core. The largest value of all ranks counts.
inline Contestant idle_agent(Job& job) {
    constexpr std::uint64_t duration = 100'000'000; // ns
    const auto take = [&job] {
        job.barrier();
        const auto start = nanoseconds(CLOCK_MONOTONIC);
        const auto whole = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), own = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
        auto now = start;
        while (now - start < duration) now = nanoseconds(CLOCK_MONOTONIC);
        const auto mine = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - own;
        const auto all = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - whole;
        const double others = all > mine ? static_cast<double>(all - mine) : 0;
        return Sample{job.all_reduce(100 * others / static_cast<double>(now - start), Operation::max)};
    };
    Row row{.metric = "network.idle_agent", .implementation = "kumiki", .parameters = {}, .unit = "%", .samples = {}};
    row.resolution = measure::one_point;
    row.parameters["ranks"] = std::int64_t{job.size()};
    return {std::move(row), take};
}

} // namespace kumiki::bench
