#include "kernels/laplace-sor/solver.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels::laplace_sor {
namespace {

TEST(Solver, leaves_the_same_bits_after_as_many_sweeps_for_every_number_of_workers_and_cut) {
    constexpr Problem small{27};
    SequentialCrew alone;
    Solver sequential(alone, small);
    sequential.run();
    const Result wanted = sequential.result();
    EXPECT_EQ(wanted.wrong_points, 0u);
    for (const Split split : {Split::rows, Split::tiles})
        for (const int workers : {1, 2, 4, 6, 25}) { // tiles: 2 x 2, 2 x 3, 5 x 5
            OpenMpCrew crew(workers);
            Solver solver(crew, small, split);
            for (int run = 0; run < 2; ++run) {
                solver.run();
                const Result found = solver.result();
                EXPECT_EQ(found.checksum, wanted.checksum) << workers << ", run " << run;
                EXPECT_EQ(found.sweeps, wanted.sweeps);
                EXPECT_EQ(found.wrong_points, 0u);
            }
        }
}

TEST(Solver, needs_sweeps_in_proportion_to_the_size) {
    const auto sweeps = [](std::size_t size) {
        SequentialCrew crew;
        Solver solver(crew, Problem{size});
        solver.run();
        return static_cast<double>(solver.result().sweeps);
    };
    EXPECT_NEAR(sweeps(129) / sweeps(65), 2, 0.4) << "with another relaxation it would be 4";
    EXPECT_LT(sweeps(129), 3.0 * 129);
}

TEST(Solver, counts_wrong_points) {
    SequentialCrew crew;
    Solver solver(crew, Problem{27});
    EXPECT_GT(solver.result().wrong_points, 400u) << "before any run";
}

} // namespace
} // namespace kumiki::kernels::laplace_sor
