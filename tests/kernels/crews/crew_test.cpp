#include "kernels/crews/crew.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels {
namespace {

static_assert(Crew<SequentialCrew> && Crew<OpenMpCrew>);
static_assert(EdgesBetween<SequentialCrew::Edges<float>, SequentialCrew::Worker, float>);
static_assert(EdgesBetween<OpenMpCrew::Edges<float>, OpenMpCrew::Worker, float>);

TEST(OpenMpCrew, runs_every_worker_once_and_times_the_first) {
    OpenMpCrew crew(3);
    std::vector<std::atomic<int>> runs(3);
    const RunTimes times = crew.run([&](auto& worker) {
        ++runs[static_cast<std::size_t>(worker.index())];
        worker.enter(Phase::communication);
    });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_GT(times.of(Phase::communication), 0);
    EXPECT_LE(times.of(Phase::computation) + times.of(Phase::communication) + times.of(Phase::synchronisation),
              times.total() * 1.01);
}

TEST(OpenMpCrew, sums_one_after_another) {
    OpenMpCrew crew(3);
    std::atomic<int> wrong = 0;
    crew.run([&](auto& worker) {
        for (std::uint64_t round = 0; round < 200; ++round) {
            const auto mine = static_cast<std::uint64_t>(worker.index());
            if (worker.sum(round + mine) != 3 * round + 3) ++wrong;
            if (worker.sum(0.5 * static_cast<double>(mine)) != 1.5) ++wrong;
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST(OpenMpCrew, edges_go_round_in_a_ring) {
    constexpr int workers = 4;
    OpenMpCrew crew(workers);
    OpenMpCrew::Edges<double> edges(crew, 2, 3);
    std::atomic<int> wrong = 0;
    for (int run = 0; run < 2; ++run)
        crew.run([&](auto& worker) {
            const int left = (worker.index() + workers - 1) % workers, right = (worker.index() + 1) % workers;
            const Link to_left{0, left, 1}, to_right{1, right, 0};
            for (int round = 0; round < 101; ++round) {
                const auto what = [&](int from, double side) {
                    return std::array{1e3 * from + round, side, std::sqrt(round)};
                };
                const auto leftwards = what(worker.index(), -1), rightwards = what(worker.index(), 1);
                edges.start(worker, to_left, leftwards);
                edges.start(worker, to_right, rightwards);
                edges.started(worker);
                edges.finish(worker);
                const double* const from_left = edges.arrived(worker, to_left);
                const double* const from_right = edges.arrived(worker, to_right);
                if (!std::ranges::equal(std::span(from_left, 3), what(left, 1))) ++wrong;
                if (!std::ranges::equal(std::span(from_right, 3), what(right, -1))) ++wrong;
            }
        });
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace kumiki::kernels
