#include "measure/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace kumiki::measure {
namespace {

/// 1, 2, ... n in any order: the ends of the interval are the ranks themselves.
std::vector<double> ranks(int n) {
    std::vector<double> samples(static_cast<std::size_t>(n));
    std::iota(samples.begin(), samples.end(), 1);
    std::shuffle(samples.begin(), samples.end(), std::mt19937(1));
    return samples;
}

TEST(MedianInterval, runs_between_the_ranks_of_the_tools_statistics) {
    struct {
        int n;
        double low, high;
    } const expected[] = {{1, 1, 1}, {6, 1, 6}, {8, 1, 8}, {11, 2, 10}, {20, 5, 16}, {100, 40, 61}};
    for (const auto& [n, low, high] : expected) {
        const Interval interval = median_interval(ranks(n));
        EXPECT_EQ(interval.low, low) << n;
        EXPECT_EQ(interval.high, high) << n;
        EXPECT_EQ(interval.median, (n + 1) / 2.0) << n;
    }
}

TEST(Settled, needs_six_samples_and_a_narrow_interval) {
    EXPECT_FALSE(settled(std::vector<double>(5, 1.0)));
    EXPECT_TRUE(settled(std::vector<double>(6, 1.0)));
    EXPECT_TRUE(settled(std::vector<double>{0.96, 1, 1, 1, 1, 1.04}));
    EXPECT_FALSE(settled(std::vector<double>{0.94, 1, 1, 1, 1, 1.06}));
    EXPECT_TRUE(settled(std::vector<double>{-0.96, -1, -1, -1, -1, -1.04}));
}

TEST(Settled, is_what_is_known_to_the_resolution) {
    const std::vector<double> small{0.1, 0.2, 0.3, 0.4, 0.5, 1.9};
    EXPECT_FALSE(settled(small));
    EXPECT_TRUE(settled(small, 1.0));
    EXPECT_FALSE(settled(small, 0.8));
    EXPECT_FALSE(settled(std::vector<double>(5, 0.0), 1.0));
}

/// Takes samples by take() in one process, as a program does.
template <class Take>
std::vector<double> sampled(const Budget& budget, Take take) {
    return sample_until(
        budget, take, [](std::span<const double> taken) { return settled(taken); }, [](bool more) { return more; });
}

TEST(SampleUntil, stops_as_soon_as_the_figure_is_settled) {
    int calls = 0;
    EXPECT_EQ(sampled({.samples = 200, .seconds = 60}, [&] { return ++calls == 1 ? 100.0 : 1.0; }),
              std::vector<double>(fewest_to_settle, 1.0));
}

TEST(SampleUntil, goes_on_while_the_interval_is_wide) {
    std::mt19937 chance(1);
    std::uniform_real_distribution<double> noise(0.8, 1.2);
    const auto taken = sampled({.samples = 10'000, .seconds = 60}, [&] { return noise(chance); });
    EXPECT_GT(taken.size(), 20u);
    EXPECT_LT(taken.size(), 1000u);
    EXPECT_TRUE(settled(taken));
    EXPECT_FALSE(settled(std::span(taken).first(taken.size() - 1)));
}

TEST(SampleUntil, keeps_to_its_budget) {
    int calls = 0;
    const auto noisy = [&] { return static_cast<double>(++calls); };
    EXPECT_EQ(sampled({.samples = 17, .seconds = 60}, noisy).size(), 17u);
    EXPECT_EQ(sampled({.samples = 200, .seconds = 0}, noisy).size(), Budget{}.fewest);
}

TEST(SampleUntil, follows_rank_0) {
    int asked = 0;
    const auto taken = sample_until(
        {.samples = 1000, .seconds = 60}, [] { return 1.0; }, [](std::span<const double>) { return true; },
        [&](bool) { return ++asked <= 7; });
    EXPECT_EQ(taken.size(), 7u);
}

} // namespace
} // namespace kumiki::measure
