#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "bench/common/contest.hpp"
#include "bench/common/hosts_clock.hpp"
#include "bench/common/late_comer.hpp"
#include "bench/common/world.hpp"

namespace kumiki::bench {

/// Every rank in turn enters late, by more than the difference of the hosts' clocks. Returns true at all ranks if no
/// rank ever left before the late one entered.
template <World W, class Barrier>
bool holds_back(W& world, Barrier& barrier) {
    const HostsClock clock(world);
    const double delay = usual_delay + 2 * world.largest(clock.uncertainty());
    bool right = true;
    for (int round = 0; round < std::min(2 * world.size(), 64); ++round) {
        const Passage passage = pass(round % world.size() == world.rank(), barrier, delay);
        const double last_came = world.largest(clock.earliest(passage.came));
        const double first_went = -world.largest(-clock.latest(passage.went));
        right = right && first_went >= last_came;
    }
    return right;
}

/// Seconds for `count` barriers at the slowest rank.
template <World W, class Barrier>
double seconds_for(W& world, std::uint64_t count, Barrier& barrier) {
    for (std::uint64_t i = 0; i < warm_up_of(count); ++i) barrier();
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) barrier();
    return world.largest(seconds_since(start));
}

template <World W>
Row barrier_row(const W& world, const char* implementation, const char* form) {
    Row row{
        .metric = "rank_barrier.time", .implementation = implementation, .parameters = {}, .unit = "us", .samples = {}};
    row.parameters = {
        {"ranks", std::int64_t{world.size()}}, {"form", form}, {"fabric", world.hosts() > 1 ? "network" : "shm"}};
    return row;
}

/// A barrier of all ranks; us per barrier. Collective.
template <World W, class Barrier>
Contestant plain(W& world, const char* implementation, const char* form, Barrier barrier) {
    const bool right = holds_back(world, barrier);
    const std::uint64_t count = calibrate(world, [&](std::uint64_t n) { return seconds_for(world, n, barrier); });
    return {barrier_row(world, implementation, form),
            [=, &world]() mutable {
                return Sample{seconds_for(world, count, barrier) / static_cast<double>(count) * 1e6, right};
            },
            true};
}

/// A computation of fixed length that touches no memory: a chain of multiplications.
class Computation {
public:
    /// The length that takes `microseconds` on rank 0's core. Collective.
    template <World W>
    Computation(W& world, double microseconds) {
        const auto run = [this](std::uint64_t steps) {
            steps_ = steps;
            const auto start = Clock::now();
            (*this)();
            return seconds_since(start);
        };
        const std::uint64_t steps = calibrate(world, run);
        const double wanted = static_cast<double>(steps) * microseconds * 1e-6 / run(steps);
        steps_ = world.broadcast(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted)));
    }

    void operator()() const {
        std::uint64_t value = steps_;
        for (std::uint64_t i = 0; i < steps_; ++i) {
            value = value * 6364136223846793005u + 1442695040888963407u;
            asm volatile("" : "+r"(value)); // the compiler must not shorten the chain
        }
    }

private:
    std::uint64_t steps_ = 1;
};

/// A split-phase barrier (enter, compute, wait): the part of its time that remains visible, in us per barrier, which is
/// the total minus the computation alone. Noise can make it negative. Collective.
template <World W, class Enter, class Wait>
Contestant split_phase(W& world, const char* implementation, Computation computation, Enter enter, Wait wait) {
    auto whole = [=]() mutable {
        enter();
        computation();
        wait();
    };
    const bool right = holds_back(world, whole);
    const std::uint64_t count = calibrate(world, [&](std::uint64_t n) { return seconds_for(world, n, whole); });
    return {barrier_row(world, implementation, "split-phase"),
            [=, &world]() mutable {
                const double total = seconds_for(world, count, whole);
                const double alone = seconds_for(world, count, computation);
                return Sample{(total - alone) / static_cast<double>(count) * 1e6, right};
            },
            true};
}

/// How much of the plain barrier's time the split-phase barrier hides, in percent, for each round.
inline Contestant hidden(const Contestant& plain, const Contestant& split) {
    const Row& visible = split.row;
    Contestant figure{{.metric = "rank_barrier.hidden",
                       .implementation = visible.implementation,
                       .parameters = visible.parameters,
                       .unit = "%",
                       .better = measure::Better::higher,
                       .samples = visible.samples,
                       .validated = visible.validated,
                       .oversubscribed = visible.oversubscribed,
                       .note = visible.note,
                       .resolution = measure::one_point},
                      {}};
    for (std::size_t i = 0; i < figure.row.samples.size(); ++i)
        figure.row.samples[i] = 100 * (1 - visible.samples[i] / plain.row.samples[i]);
    return figure;
}

} // namespace kumiki::bench
