#include "kernels/cavity/centre_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kumiki::kernels::cavity {
namespace {

double deviation_from_published(const std::vector<double>& u, const std::vector<double>& v, int reynolds = 100) {
    return largest_deviation(beside_published(u, v, reynolds));
}

TEST(DeviationFromPublished, is_the_largest_of_both_lines) {
    // If nothing moves except the lid, the largest error of u is at 0.9688, the centre of the last cell.
    const std::vector<double> still(16, 0.0);
    EXPECT_NEAR(deviation_from_published(still, still), 0.78871, 0.002);
    std::vector<double> wild = still;
    wild[8] = -5; // v at x = 0.5 is between this cell and the one before
    EXPECT_NEAR(deviation_from_published(still, wild), 2.5 + 0.05454, 1e-12);
}

TEST(DeviationFromPublished, of_a_flow_that_blew_up_is_infinite) {
    const std::vector<double> still(16, 0.0), blown_up(16, std::nan(""));
    EXPECT_TRUE(std::isinf(deviation_from_published(still, blown_up)));
    EXPECT_TRUE(std::isinf(deviation_from_published(blown_up, still)));
}

TEST(BesidePublished, has_the_lines_of_the_tables_but_for_a_misprint) {
    const std::vector<double> still(16, 0.0);
    for (const int reynolds : published_reynolds) {
        const auto velocities = beside_published(still, still, reynolds);
        EXPECT_EQ(velocities.size(), reynolds == 400 ? 29u : 30u);
        for (const CentreVelocity& each : velocities)
            EXPECT_EQ(each.computed, each.component == 'u' && each.place > 1 - 0.5 / 16 ? each.computed : 0.0);
    }
    // The largest of each column: u next to the lid.
    EXPECT_EQ(beside_published(still, still, 100)[14].published, 0.84123);
    EXPECT_EQ(beside_published(still, still, 400)[14].published, 0.75837);
    EXPECT_EQ(beside_published(still, still, 1000)[14].published, 0.65928);
}

} // namespace
} // namespace kumiki::kernels::cavity
