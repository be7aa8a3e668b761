#include "kernels/diffusion/solver.hpp"

#include <gtest/gtest.h>

#include "kernels/common/openmp_crew.hpp"

namespace kumiki::kernels::diffusion {
namespace {

constexpr Problem small{36, 11};

TEST(Solver, leaves_the_same_bits_for_every_number_of_workers) {
    SequentialCrew alone;
    Solver sequential(alone, small);
    sequential.run();
    const Result wanted = sequential.result();
    EXPECT_EQ(wanted.wrong_points, 0u);
    for (const int workers : {1, 2, 5, 34}) {
        OpenMpCrew crew(workers);
        Solver solver(crew, small);
        for (int run = 0; run < 2; ++run) {
            solver.run();
            EXPECT_EQ(solver.result().checksum, wanted.checksum) << workers << ", run " << run;
            EXPECT_EQ(solver.result().wrong_points, 0u);
        }
    }
}

TEST(Solver, counts_wrong_points) {
    SequentialCrew crew;
    Solver solver(crew, small);
    EXPECT_GT(solver.result().wrong_points, 1000u) << "before any run";
}

} // namespace
} // namespace kumiki::kernels::diffusion
