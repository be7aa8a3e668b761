#include "kernels/common/balance.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace kumiki::kernels {
namespace {

using Weights = std::vector<std::uint64_t>;

std::uint64_t weight(const Weights& weights, Range part) {
    std::uint64_t sum = 0;
    for (std::size_t i = part.begin; i < part.end; ++i) sum += weights[i];
    return sum;
}

TEST(BalancedParts, cut_equal_weights_evenly) {
    EXPECT_EQ(balanced_parts(Weights(12, 5), 3), (std::vector<Range>{{0, 4}, {4, 8}, {8, 12}}));
}

TEST(BalancedParts, cut_where_the_weight_before_is_nearest_to_the_share) {
    EXPECT_EQ(balanced_parts(Weights{4, 4, 1}, 2), (std::vector<Range>{{0, 1}, {1, 3}}));
    EXPECT_EQ(balanced_parts(Weights{4, 1, 4}, 2).front().size(), 1u);
    EXPECT_EQ(balanced_parts(Weights{1, 4, 4}, 2), (std::vector<Range>{{0, 2}, {2, 3}}));
}

TEST(BalancedParts, may_be_empty) {
    EXPECT_EQ(balanced_parts(Weights{}, 2), (std::vector<Range>{{0, 0}, {0, 0}}));
    EXPECT_EQ(balanced_parts(Weights(3, 0), 2).back().end, 3u);
    const auto parts = balanced_parts(Weights{0, 100, 0}, 4);
    std::size_t holders = 0;
    for (const Range part : parts) holders += weight({0, 100, 0}, part) == 100 ? 1 : 0;
    EXPECT_EQ(holders, 1u);
}

TEST(BalancedParts, miss_their_share_by_the_heaviest_item_at_most) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        Weights weights(random() % 300);
        for (auto& item : weights) item = random() % 1000;
        const int count = 1 + static_cast<int>(random() % 20);
        const auto parts = balanced_parts(weights, count);
        ASSERT_EQ(parts.size(), static_cast<std::size_t>(count));
        std::size_t next = 0;
        const double even = static_cast<double>(weight(weights, {0, weights.size()})) / count;
        for (const Range part : parts) {
            ASSERT_EQ(part.begin, next);
            ASSERT_LE(part.begin, part.end);
            next = part.end;
            EXPECT_NEAR(static_cast<double>(weight(weights, part)), even, 1001.0);
        }
        EXPECT_EQ(next, weights.size());
    }
}

TEST(BalancedParts, do_not_overflow) {
    const std::uint64_t huge = std::uint64_t{1} << 61;
    EXPECT_EQ(balanced_parts(Weights(7, huge), 7)[6], (Range{6, 7}));
}

} // namespace
} // namespace kumiki::kernels
