#include "kernels/cavity/centre_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kumiki::kernels::cavity {
namespace {

TEST(DeviationFromPublished, is_the_largest_of_both_lines) {
    // Where nothing moves but the lid, u is wrong most at 0.9688, the middle of the last cell.
    const std::vector<double> still(16, 0.0);
    EXPECT_NEAR(deviation_from_published(still, still), 0.78871, 0.002);
    std::vector<double> wild = still;
    wild[8] = -5; // v at x = 0.5 lies between this cell and the one before
    EXPECT_NEAR(deviation_from_published(still, wild), 2.5 + 0.05454, 1e-12);
}

TEST(DeviationFromPublished, of_a_flow_that_blew_up_is_infinite) {
    const std::vector<double> still(16, 0.0), blown_up(16, std::nan(""));
    EXPECT_TRUE(std::isinf(deviation_from_published(still, blown_up)));
    EXPECT_TRUE(std::isinf(deviation_from_published(blown_up, still)));
}

} // namespace
} // namespace kumiki::kernels::cavity
