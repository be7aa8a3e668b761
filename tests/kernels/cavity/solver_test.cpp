#include "kernels/cavity/solver.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels::cavity {
namespace {

Result solved(auto& crew, const Problem& problem, const SplitChoice& split = {}) {
    Solver solver(crew, problem, split);
    solver.run();
    return solver.result();
}

TEST(Solver, leaves_the_same_bits_after_as_many_steps_for_every_number_of_workers_and_cut) {
    constexpr Problem small{.size = 17, .steady = 0.05};
    SequentialCrew alone;
    const Result wanted = solved(alone, small);
    EXPECT_LE(wanted.deviation, small.tolerance());
    EXPECT_EQ(wanted.leaking_cells, 0);
    EXPECT_LT(wanted.steps, small.most_steps());
    const auto expect = [&](int workers, Split split) {
        OpenMpCrew crew(workers);
        const Result found = solved(crew, small, split);
        EXPECT_EQ(found.checksum, wanted.checksum) << workers;
        EXPECT_EQ(found.steps, wanted.steps);
        EXPECT_EQ(found.deviation, wanted.deviation);
    };
    for (const int workers : {1, 2, 3}) expect(workers, Split::rows);
    for (const int workers : {4, 9}) expect(workers, Split::tiles); // 2 x 2; 3 x 3 with 6, 5 and 5 rows and columns
}

TEST(Solver, comes_nearer_to_the_published_flow_with_more_cells) {
    SequentialCrew alone;
    EXPECT_LT(solved(alone, Problem{33}).deviation, 0.5 * solved(alone, Problem{17}).deviation);
}

} // namespace
} // namespace kumiki::kernels::cavity
