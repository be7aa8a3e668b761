#include "kernels/cg/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cg/random.hpp"

namespace kumiki::kernels::cg {
namespace {

// Computed with integers of any length: 5^(13 k) * 314159265 mod 2^46 for k = 1, 2, 3 and 100000.
TEST(Random, draws_the_benchmarks_numbers) {
    Random random;
    EXPECT_EQ(random() * 0x1p46, 55909509111989.0);
    EXPECT_EQ(random() * 0x1p46, 61155031930969.0);
    EXPECT_EQ(random() * 0x1p46, 45573031421645.0);
    for (int i = 4; i < 100000; ++i) random();
    EXPECT_EQ(random() * 0x1p46, 48923026192417.0);
}

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
