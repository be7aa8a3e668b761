#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/scatter.hpp"
#include "kernels/radix-sort/digit.hpp"
#include "kernels/radix-sort/keys.hpp"

namespace kumiki::kernels::radix_sort {
namespace {

std::vector<Key> keys_of(Distribution distribution, std::size_t count) {
    std::vector<Key> keys(count);
    generate(distribution, 0, count, keys);
    return keys;
}

TEST(Digit, takes_a_key_apart) {
    EXPECT_EQ(LeadingDigit()(0xAB123456u), 0xABu);
    EXPECT_EQ(digit(0xAB123456u, 0), 0x56u);
    EXPECT_EQ(digit(0xAB123456u, 2), 0x12u);
}

TEST(CountInBuckets, counts_every_key_once) {
    for (const std::size_t count : {0, 1, 3, 4, 5, 1001}) {
        const auto keys = keys_of(Distribution::uniform, count);
        PerBucket expected{};
        for (const Key key : keys) ++expected[key >> 24];
        EXPECT_EQ(count_in_buckets(keys, LeadingDigit()), expected) << count;
    }
}

/// Scatters keys in the way a worker does: its buckets begin at odd positions, because other workers' keys are between
/// them.
class ScatterTest : public testing::TestWithParam<Distribution> {};

TEST_P(ScatterTest, puts_every_key_in_its_bucket_in_order) {
    Scatter scatter; // kept between sorts
    for (const std::size_t count : {0, 1, 255, 256, 257, 5000, 100'003}) {
        const auto keys = keys_of(GetParam(), count);
        const PerBucket counts = count_in_buckets(keys, LeadingDigit());
        PerBucket places{};
        std::uint64_t next = 5;
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
            places[bucket] = next;
            next += counts[bucket] + bucket % 7;
        }
        std::vector<Key> memory(next, 0), expected(next, 0);
        PerBucket cursor = places;
        for (const Key key : keys) expected[cursor[LeadingDigit()(key)]++] = key;

        std::size_t written = 0;
        scatter(keys, places, [&](std::size_t bucket, std::uint64_t place, std::span<const Key> run) {
            ASSERT_GE(place, places[bucket]);
            ASSERT_LE(place + run.size(), places[bucket] + counts[bucket]);
            const bool first = place == places[bucket], last = place + run.size() == places[bucket] + counts[bucket];
            EXPECT_TRUE(first || place % 16 == 0) << "a run begins inside a cache line";
            EXPECT_TRUE(last || (place + run.size()) % 16 == 0) << "a run ends inside a cache line";
            std::ranges::copy(run, memory.begin() + static_cast<std::ptrdiff_t>(place));
            written += run.size();
        });
        EXPECT_EQ(written, count) << "no key is written twice";
        EXPECT_EQ(memory, expected) << count;
    }
}

INSTANTIATE_TEST_SUITE_P(Distributions, ScatterTest, testing::ValuesIn(all_distributions));

PerBucket counts_with(std::uint64_t everywhere) {
    PerBucket counts;
    counts.fill(everywhere);
    return counts;
}

TEST(BucketPlan, gives_ranks_contiguous_buckets_of_about_as_many_keys) {
    const std::vector<PerBucket> counts{counts_with(3), counts_with(5), counts_with(0), counts_with(1)};
    const BucketPlan plan(counts);
    for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(plan.buckets_of(rank),
                  (Range{static_cast<std::size_t>(rank) * 64, static_cast<std::size_t>(rank) * 64 + 64}));
        EXPECT_EQ(plan.keys_of(rank), 9u * 64);
    }
    EXPECT_EQ(plan.most_keys(), 9u * 64);
    EXPECT_EQ(plan.owner(63), 0);
    EXPECT_EQ(plan.owner(64), 1);
    EXPECT_EQ(plan.begins()[64], 0u);
    EXPECT_EQ(plan.begins()[66], 18u);
    EXPECT_EQ(plan.sizes()[66], 9u);
}

TEST(BucketPlan, balances_skewed_buckets) {
    PerBucket skewed = counts_with(0);
    for (std::size_t bucket = 100; bucket < 110; ++bucket) skewed[bucket] = 10;
    const BucketPlan plan(std::vector<PerBucket>{skewed, skewed});
    EXPECT_EQ(plan.keys_of(0), 100u);
    EXPECT_EQ(plan.keys_of(1), 100u);
    EXPECT_EQ(plan.owner(104), 0);
    EXPECT_EQ(plan.owner(105), 1);
}

TEST(BucketPlan, keeps_an_indivisible_bucket_whole) {
    PerBucket one = counts_with(0);
    one[107] = 1000;
    const BucketPlan plan(std::vector<PerBucket>{one, one, one});
    EXPECT_EQ(plan.most_keys(), 3000u);
    EXPECT_EQ(plan.keys_of(0) + plan.keys_of(1) + plan.keys_of(2), 3000u);
}

TEST(BucketPlan, plans_nothing_for_nothing) {
    const BucketPlan plan(std::vector<PerBucket>{counts_with(0), counts_with(0)});
    EXPECT_EQ(plan.most_keys(), 0u);
}

} // namespace
} // namespace kumiki::kernels::radix_sort
