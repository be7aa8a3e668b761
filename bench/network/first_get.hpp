#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/clocks.hpp"
#include "bench/common/contest.hpp"
#include "bench/common/pair.hpp"
#include "bench/network/pair_world.hpp"
#include "bench/remote-memory/loops.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// The first get of a word after a barrier, from a rank that computes and does not call the library. The get must not
/// have to wait because of what the serving thread was doing in the barrier. A figure is a quantile of one hundred
/// gets.
inline Contestant first_get(Job& job, PairWorld& world, const std::uint64_t& word, Pair pair, std::string metric,
                            double quantile) {
    constexpr std::size_t rounds = 100;
    constexpr std::uint64_t computation = 1'500'000; // ns
    auto take = [&job, &world, &word, pair, quantile] {
        std::vector<double> times;
        for (std::size_t round = 0; round < rounds; ++round) {
            job.barrier();
            const auto start = nanoseconds(CLOCK_MONOTONIC);
            if (job.rank() == pair.first) {
                static_cast<void>(job.get(pair.second, word));
                times.push_back(static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - start) / 1000);
            }
            while (nanoseconds(CLOCK_MONOTONIC) - start < computation) {}
        }
        if (times.empty()) return Sample{0};
        const auto nth = times.begin() + static_cast<std::ptrdiff_t>(quantile * (rounds - 1));
        std::ranges::nth_element(times, nth);
        return Sample{*nth};
    };
    return told_to_all(world, {latency_row(std::move(metric), "kumiki"), std::move(take)});
}

} // namespace kumiki::bench
