#include "kernels/laplace-sor/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/laplace-sor/stencil.hpp"

namespace kumiki::kernels::laplace_sor {
namespace {

TEST(Problem, difference_solution_solves_the_differences) {
    for (const std::size_t size : {3u, 10u, 129u}) {
        const Problem problem{size};
        for (std::size_t row = 1; row <= problem.inner(); ++row)
            for (const std::size_t column : {std::size_t{1}, size / 2}) {
                const auto value = [&](std::size_t y, std::size_t x) {
                    return problem.difference_solution(y) * problem.sine(x);
                };
                const double around =
                    value(row - 1, column) + value(row + 1, column) + value(row, column - 1) + value(row, column + 1);
                EXPECT_NEAR(around / 4, value(row, column), 1e-15);
            }
        EXPECT_EQ(problem.difference_solution(size - 1), 1);
        EXPECT_EQ(problem.boundary(size - 1, 1), problem.sine(1));
        EXPECT_EQ(problem.boundary(size - 2, 1), 0);
    }
}

TEST(Problem, the_two_solutions_lie_within_the_tolerance_that_is_left_for_them) {
    for (const std::size_t size : {5u, 9u, 33u, 513u, 2049u}) {
        const Problem problem{size};
        double largest = 0;
        for (std::size_t row = 0; row < size; ++row)
            largest = std::max(largest, std::abs(problem.difference_solution(row) - problem.exact_solution(row)));
        EXPECT_LE(largest + problem.iteration_tolerance(), problem.exact_tolerance()) << size;
        EXPECT_GE(largest, problem.exact_tolerance() / 10) << size << ": the tolerance would show nothing";
    }
}

TEST(Relax, over_relaxes_and_says_how_far) {
    double own[] = {1, 2, 3};
    const double above[] = {1, 2, 4}, below[] = {1, 2, 4}, beside[] = {1, 1, 3, 3};
    EXPECT_DOUBLE_EQ(relax({own, above, below, beside, 3, 1}, 1.5), 0.75);
    EXPECT_DOUBLE_EQ(own[0], 1);
    EXPECT_DOUBLE_EQ(own[1], 2);
    EXPECT_DOUBLE_EQ(own[2], 3.75) << "1.5 times the way from 3 to 3.5";
    EXPECT_DOUBLE_EQ(relax({own, above, below, beside, 2, 2}, 1), 0.25) << "every other one";
    EXPECT_DOUBLE_EQ(own[1], 2);
    EXPECT_DOUBLE_EQ(own[2], 3.5);
}

} // namespace
} // namespace kumiki::kernels::laplace_sor
