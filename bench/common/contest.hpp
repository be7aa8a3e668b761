#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "bench/common/world.hpp"
#include "measure/program.hpp"
#include "measure/row.hpp"
#include "measure/sampling.hpp"

namespace kumiki::bench {

using measure::Budget;
using measure::Clock;
using measure::Row;
using measure::seconds_since;

/// One figure in the row's unit, and whether the operations behind it were correct. The figure at rank 0 counts.
struct Sample {
    double figure = 0;
    bool right = true;
};

/// One of several things that are measured beside each other.
struct Contestant {
    Row row;
    std::function<Sample()> take; ///< collective
    bool every_round = false;     ///< it never rests, because another figure is computed from each of its rounds
};

/// While some figures have not settled, those that have provide a sample only in every so many rounds: the time goes to
/// the others, and a settled figure that drifts is still noticed.
inline constexpr std::size_t rounds_between_settled = 4;

/// In each round every contestant provides one sample, in an order that is shuffled anew for each round, so that a
/// temporary disturbance of the machine affects all alike; once its figure has settled, a contestant mostly rests. The
/// rounds end when all figures have settled, or when time is up. The figures of a first round, which warms up, are
/// dropped, but its operations must be correct. The budget is for each contestant: together they may take the sum.
/// Collective; sets the samples, validated and oversubscribed of each row.
template <World W>
void take_turns(W& world, std::span<Contestant> contestants, Budget budget) {
    budget.seconds *= static_cast<double>(contestants.size());
    std::mt19937 chance(1); // the same at every rank, because all ranks must take part in the same contestant's turn
    std::vector<std::size_t> order(contestants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<char> right;
    for (Contestant& contestant : contestants) right.push_back(contestant.take().right);
    const auto all_settled = [&] {
        return std::ranges::all_of(contestants, [](const Contestant& each) { return settled(each.row); });
    };
    const auto start = Clock::now();
    for (std::size_t round = 0; world.broadcast(budget.wants_more(round, start, all_settled)) != 0; ++round) {
        std::shuffle(order.begin(), order.end(), chance);
        const bool all_take_part = round < budget.fewest || round % rounds_between_settled == 0;
        for (const std::size_t index : order) {
            // Rank 0 decides for all, because its figures count.
            const bool may_rest = !all_take_part && !contestants[index].every_round;
            if (may_rest && world.broadcast(settled(contestants[index].row)) != 0) continue;
            const Sample sample = contestants[index].take();
            contestants[index].row.samples.push_back(sample.figure);
            right[index] = right[index] != 0 && sample.right;
        }
    }
    for (std::size_t index = 0; index < contestants.size(); ++index) {
        contestants[index].row.validated = world.largest(right[index] != 0 ? 0.0 : 1.0) == 0.0;
        contestants[index].row.oversubscribed = world.oversubscribed();
    }
}

/// The number of repetitions in a batch that is long enough for the clock: the smallest power of two for which
/// run(count) takes `target` seconds several times in succession, so that a single disturbance does not make the batch
/// too small. A spinning barrier with more threads than cores takes milliseconds; for it the number is 1.
template <World W, class Run>
std::uint64_t calibrate(W& world, Run run, double target = 2e-3) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    constexpr int times = 3;
    std::uint64_t count = 1;
    for (int long_enough = 0; long_enough < times && count < most;) {
        const bool short_of_it = world.broadcast(run(count) < target) != 0;
        long_enough = short_of_it ? 0 : long_enough + 1;
        if (short_of_it) count *= 2;
    }
    return count;
}

/// The number of rounds before the clock starts: they wake sleeping threads and bring cache lines into place.
constexpr std::uint64_t warm_up_of(std::uint64_t count) { return 1 + count / 16; }

/// Prints the rows at rank 0 and returns the program's exit code.
template <World W>
int report(W& world, std::span<const Contestant> contestants) {
    int code = measure::success;
    for (const Contestant& contestant : contestants) {
        if (world.rank() == 0) print(std::cout, contestant.row);
        if (contestant.row.validated == false) code = measure::validation_failed;
    }
    return code;
}

/// Measures the contestants in turn and prints their rows; returns the program's exit code.
template <World W>
int contest(W& world, std::vector<Contestant> contestants, Budget budget) {
    take_turns(world, std::span(contestants), budget);
    return report(world, std::span<const Contestant>(contestants));
}

} // namespace kumiki::bench
