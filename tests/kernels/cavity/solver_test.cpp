#include "kernels/cavity/solver.hpp"

#include <gtest/gtest.h>

#include "kernels/common/openmp_crew.hpp"

namespace kumiki::kernels::cavity {
namespace {

Result solved(auto& crew, const Problem& problem) {
    Solver solver(crew, problem);
    solver.run();
    return solver.result();
}

TEST(Solver, leaves_the_same_bits_after_as_many_steps_for_every_number_of_workers) {
    constexpr Problem small{.size = 17, .steady = 0.05};
    SequentialCrew alone;
    const Result wanted = solved(alone, small);
    EXPECT_LE(wanted.deviation, small.tolerance());
    EXPECT_EQ(wanted.leaking_rows, 0);
    EXPECT_LT(wanted.steps, small.most_steps());
    for (const int workers : {1, 2, 3}) {
        OpenMpCrew crew(workers);
        const Result found = solved(crew, small);
        EXPECT_EQ(found.checksum, wanted.checksum) << workers;
        EXPECT_EQ(found.steps, wanted.steps);
    }
}

TEST(Solver, comes_nearer_to_the_published_flow_with_more_cells) {
    SequentialCrew alone;
    EXPECT_LT(solved(alone, Problem{33}).deviation, 0.5 * solved(alone, Problem{17}).deviation);
}

} // namespace
} // namespace kumiki::kernels::cavity
