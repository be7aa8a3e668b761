#include "linpack/sharing.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/common/blas_library.hpp"
#include "support/jobs.hpp"

namespace kumiki::linpack {
namespace {

Sharers two(std::size_t size, std::size_t block, double first, double second) {
    return {size, block, {1, 2, true}, {.together = {first, second}, .alone = {first, second}}};
}

double operations(std::size_t size) { return 2.0 / 3.0 * static_cast<double>(size * size * size); }

/// The share of the summed speeds that the model expects.
double share_of_sum(const Sharers& sharers, std::span<const double> weights) {
    const double sum = std::reduce(sharers.speeds.together.begin(), sharers.speeds.together.end());
    return operations(sharers.size) / 1e9 / expected_seconds(sharers, weights) / sum;
}

TEST(ExpectedSeconds, OfEqualRanksAreNearlyTheArithmetic) {
    EXPECT_GT(share_of_sum(two(15000, 256, 70, 70), {}), 0.93);
    EXPECT_LT(share_of_sum(two(15000, 256, 70, 70), {}), 1);
}

TEST(ExpectedSeconds, OfUnequalRanksGainByWeights) {
    const Sharers sharers = two(15000, 256, 70, 35);
    EXPECT_LT(share_of_sum(sharers, {}), 0.70) << "equal shares wait for the slower rank";
    EXPECT_GT(share_of_sum(sharers, sharers.speeds.together), 0.90);
}

TEST(ExpectedSeconds, OfRanksWhoseThreadsDifferDependOnTheOneThatMakesPanels) {
    Sharers sharers = two(4000, 256, 70, 70);
    const double before = expected_seconds(sharers, {});
    sharers.speeds.alone[1] = 7; // of ten threads
    EXPECT_GT(expected_seconds(sharers, {}), before);
}

TEST(ShareColumns, EquallyWhereTheSpeedsAreAlike) {
    const Sharing sharing = share_columns(two(5000, 128, 70, 68));
    EXPECT_TRUE(sharing.weights.empty());
    ASSERT_EQ(sharing.reasons.size(), 1u);
    EXPECT_NE(sharing.reasons[0].find("equal shares"), std::string::npos);
}

TEST(ShareColumns, BySpeed) {
    const Sharing sharing = share_columns(two(15000, 256, 70, 35));
    EXPECT_EQ(sharing.weights, (std::vector<double>{70, 35}));
    EXPECT_EQ(sharing.reasons.size(), 1u);
}

TEST(ShareColumns, WithoutARankThatDelaysTheOthers) {
    const Sharers sharers{8000, 256, {1, 3, true}, {{70, 5, 70}, {70, 5, 70}}};
    const Sharing sharing = share_columns(sharers);
    EXPECT_EQ(sharing.weights, (std::vector<double>{70, 0, 70}));
    ASSERT_EQ(sharing.reasons.size(), 2u);
    EXPECT_NE(sharing.reasons[1].find("process column 1 is left out"), std::string::npos);
    EXPECT_LT(sharing.seconds, expected_seconds(sharers, sharers.speeds.together));
}

TEST(ShareColumns, SaysThatARankIsTooSlowForAnyColumn) {
    const Sharing sharing = share_columns({8000, 256, {1, 3, true}, {{70, 1, 70}, {70, 1, 70}}});
    ASSERT_EQ(sharing.reasons.size(), 2u);
    EXPECT_NE(sharing.reasons[1].find("process column 1 is left out"), std::string::npos);
}

TEST(ShareColumns, OfOneColumnIsNoQuestion) {
    const Sharing sharing = share_columns({1000, 64, {2, 1, true}, {{50}, {50}}});
    EXPECT_TRUE(sharing.weights.empty());
    EXPECT_TRUE(sharing.reasons.empty());
}

TEST(ColumnSpeeds, AreThoseOfTheSlowestRankThatTakesPart) {
    const std::vector<RankSpeed> of_ranks{{70, 35}, {40, 40}, {60, 15}, {50, 5}, {1, 1}};
    const ColumnSpeeds speeds = ColumnSpeeds::of({2, 2, true}, of_ranks);
    EXPECT_EQ(speeds.together, (std::vector<double>{60, 40}));
    EXPECT_EQ(speeds.alone, (std::vector<double>{15, 40}));
}

TEST(SpeedOfRank, IsNothingWhereARankTakesNoPart) {
    tests::run_programs({.ranks = 3, .crowded = true}, [](int rank) {
        kernels::set_blas_threads(1);
        Job job;
        const Grid grid{2, 1, true};
        const double speed = speed_of_rank(job, grid, 64, 16);
        if (rank < 2) EXPECT_GT(speed, 0);
        else EXPECT_EQ(speed, 0);
    });
}

} // namespace
} // namespace kumiki::linpack
