#include "kernels/diffusion/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kumiki::kernels::diffusion {
namespace {

double error(std::size_t size, std::size_t steps, Method method = Method::direct) {
    const Problem problem{size, steps, method};
    return std::abs(problem.scheme_decay() - problem.exact_decay());
}

TEST(Problem, the_schemes_decay_is_within_its_tolerance) {
    for (const std::size_t size : {3u, 9u, 17u, 129u, 2049u})
        for (const std::size_t steps : {10u, 20u, 100u, 10'000u})
            for (const Method method : {Method::direct, Method::jacobi})
                EXPECT_LE(error(size, steps, method), (Problem{size, steps}.scheme_tolerance()))
                    << size << ", " << steps << ", " << name(method);
}

TEST(Problem, iterations_leave_a_tenth_of_the_schemes_error_and_are_no_more_than_that_takes) {
    for (const std::size_t steps : {20u, 500u}) {
        const Problem direct{129, steps}, jacobi{129, steps, Method::jacobi};
        const double left = std::abs(jacobi.scheme_decay() - direct.scheme_decay()), least = 0.1 * error(129, steps);
        EXPECT_EQ(jacobi.iterations() % 2, 0u);
        EXPECT_LE(left, 0.1 * direct.scheme_tolerance());
        EXPECT_GE(left, 0.1 * least) << "with so many iterations fewer would do";
    }
}

TEST(Problem, is_of_second_order_in_time_and_space) {
    EXPECT_NEAR(error(4097, 20) / error(4097, 40), 4, 0.2);
    EXPECT_NEAR(error(33, 10'000) / error(65, 10'000), 4, 0.2);
}

TEST(Problem, the_tolerance_would_show_a_tenth_of_a_step_too_much) {
    const Problem problem{513, 100};
    const double one_step = problem.exact_decay() * (1 - std::pow(problem.exact_decay(), 0.01));
    EXPECT_LT(problem.scheme_tolerance(), one_step / 10);
    EXPECT_LT(problem.rounding_tolerance(), 1e-9);
}

TEST(Problem, the_mode_vanishes_on_the_boundary_and_differs_along_x_and_y) {
    const Problem problem{5, 10};
    EXPECT_NEAR(problem.along_x(1), 1, 1e-15);
    EXPECT_NEAR(problem.along_y(1), 0, 1e-15);
    EXPECT_NEAR(problem.along_y(0), 1, 1e-15);
    EXPECT_NEAR(problem.along_x(3), 0, 1e-15) << "the first point beyond the inner ones";
}

} // namespace
} // namespace kumiki::kernels::diffusion
