#include "kernels/diffusion/solver.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels::diffusion {
namespace {

constexpr Problem small{36, 11}, small_by_jacobi{36, 11, Method::jacobi};

/// Runs Alone with one worker, and Together with several.
template <class Alone, class Together>
void expect_the_same_bits(const Problem& problem, const SplitChoice& split = {}) {
    SequentialCrew alone;
    Solver<Alone> sequential(alone, problem);
    sequential.run();
    const Result wanted = sequential.result();
    EXPECT_EQ(wanted.wrong_points, 0u);
    for (const int workers : {1, 2, 6, 34}) { // tiles: 3 x 2, 17 x 2
        OpenMpCrew crew(workers);
        Solver<Together> solver(crew, problem, split);
        for (int run = 0; run < 2; ++run) {
            solver.run();
            EXPECT_EQ(solver.result().checksum, wanted.checksum) << workers << ", run " << run;
            EXPECT_EQ(solver.result().wrong_points, 0u);
        }
    }
}

TEST(Solver, leaves_the_same_bits_for_every_number_of_workers_and_cut) {
    expect_the_same_bits<Direct<SequentialCrew>, Direct<OpenMpCrew>>(small);
    expect_the_same_bits<Jacobi<SequentialCrew>, Jacobi<OpenMpCrew>>(small_by_jacobi);
    expect_the_same_bits<Jacobi<SequentialCrew>, Jacobi<OpenMpCrew>>(small_by_jacobi, Split::tiles);
}

TEST(Solver, counts_wrong_points) {
    SequentialCrew crew;
    Solver<Direct<SequentialCrew>> solver(crew, small);
    EXPECT_GT(solver.result().wrong_points, 1000u) << "before any run";
}

TEST(Solver, jacobi_does_what_the_scheme_does_where_a_line_needs_many_iterations_and_where_few) {
    for (const Problem& problem : {Problem{129, 10, Method::jacobi}, Problem{9, 2000, Method::jacobi}}) {
        SequentialCrew crew;
        Solver<Jacobi<SequentialCrew>> solver(crew, problem);
        solver.run();
        EXPECT_EQ(solver.result().wrong_points, 0u) << problem.iterations();
    }
}

} // namespace
} // namespace kumiki::kernels::diffusion
