#include "kernels/cg/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kumiki::kernels::cg {
namespace {

TEST(Problem, counts_operations_as_the_benchmark_does) {
    // Class S: 2 * 15 * 1400 * (3 + 56 + 25 * (5 + 56) + 3)
    EXPECT_DOUBLE_EQ(problems[0].operations(), 42000.0 * 1587.0);
}

TEST(Problem, verifies_zeta_to_ten_digits) {
    for (const Problem& problem : problems) {
        EXPECT_TRUE(problem.verifies(problem.published_zeta * (1 + 0.9e-10)));
        EXPECT_TRUE(problem.verifies(problem.published_zeta * (1 - 0.9e-10)));
        EXPECT_FALSE(problem.verifies(problem.published_zeta * (1 + 1.1e-10)));
        EXPECT_FALSE(problem.verifies(problem.published_zeta * (1 - 1.1e-10)));
        EXPECT_FALSE(problem.verifies(std::numeric_limits<double>::quiet_NaN()));
    }
}

} // namespace
} // namespace kumiki::kernels::cg
