#include "kernels/pi/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace kumiki::kernels::pi {
namespace {

double error(const Problem& problem) {
    return problem.estimate(problem.tally({0, problem.pieces()})) - std::numbers::pi;
}

TEST(Problem, integration_has_the_error_of_the_midpoint_rule) {
    for (const std::uint64_t count : {10u, 1000u, 4096u, 4097u, 100'000u}) {
        const double wanted = 1 / (12 * static_cast<double>(count) * static_cast<double>(count));
        EXPECT_NEAR(error({Method::integration, count}), wanted, 0.01 * wanted + 2e-15) << count;
    }
}

TEST(Problem, integration_rounds_hardly_at_all) {
    EXPECT_LT(std::abs(error({Method::integration, 10'000'019})), 2e-15);
}

TEST(Problem, random_points_come_as_near_as_chance_allows) {
    int outside_one_deviation = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Problem problem{Method::monte_carlo, 100'001, seed};
        EXPECT_LE(std::abs(error(problem)), problem.tolerance()) << seed;
        outside_one_deviation += std::abs(error(problem)) > problem.tolerance() / 5;
    }
    EXPECT_NEAR(outside_one_deviation, 32, 18) << "of 100: neither lucky nor unlucky throughout";
}

TEST(Problem, pieces_add_up_however_they_are_cut) {
    std::mt19937 random(5);
    for (const Method method : {Method::monte_carlo, Method::integration})
        for (const std::uint64_t count : {1u, 4095u, 4096u, 123'457u}) {
            const Problem problem{method, count};
            const std::uint64_t whole = problem.tally({0, problem.pieces()});
            for (int trial = 0; trial < 5; ++trial) {
                std::uint64_t sum = 0;
                for (std::uint64_t begin = 0; begin < problem.pieces();) {
                    const std::uint64_t end = std::min(problem.pieces(), begin + random() % 9);
                    sum += problem.tally({begin, end});
                    begin = end;
                }
                EXPECT_EQ(sum, whole) << name(method) << ", " << count;
            }
        }
}

TEST(Problem, tells_a_wrong_result) {
    for (const Method method : {Method::monte_carlo, Method::integration}) {
        const Problem problem{method, 1'000'000};
        const std::uint64_t tally = problem.tally({0, problem.pieces()});
        EXPECT_TRUE(problem.verifies(tally));
        EXPECT_FALSE(problem.verifies(tally - tally / problem.pieces())) << "a piece is missing";
        EXPECT_FALSE(problem.verifies(0));
    }
}

TEST(Problem, the_largest_sum_does_not_overflow) {
    const Problem problem{Method::integration, std::uint64_t{1} << 40};
    EXPECT_NEAR(problem.estimate(problem.tally({0, 1}) * problem.pieces()), 4.0, 1e-6)
        << "were all pieces as the first";
}

} // namespace
} // namespace kumiki::kernels::pi
