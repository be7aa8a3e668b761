#include "kernels/radix-sort/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace kumiki::kernels::radix_sort {
namespace {

std::vector<Key> keys_of(Distribution distribution, std::size_t count) {
    std::vector<Key> keys(count);
    generate(distribution, 0, count, keys);
    return keys;
}

TEST(Generate, makes_the_same_keys_in_parts) {
    for (const auto distribution : all_distributions) {
        const auto whole = keys_of(distribution, 1000);
        std::vector<Key> part(300);
        generate(distribution, 600, 1000, part);
        EXPECT_TRUE(std::ranges::equal(part, std::span(whole).subspan(600, 300)));
    }
}

TEST(Generate, spreads_uniform_keys) {
    std::array<int, 256> counts{};
    for (const Key key : keys_of(Distribution::uniform, 256'000)) ++counts[key >> 24];
    EXPECT_GT(*std::ranges::min_element(counts), 800);
    EXPECT_LT(*std::ranges::max_element(counts), 1200);
}

TEST(Generate, heaps_gaussian_like_keys_in_the_middle) {
    std::array<int, 4> quarters{};
    for (const Key key : keys_of(Distribution::gaussian_like, 10'000)) ++quarters[key >> 30];
    EXPECT_GT(quarters[1] + quarters[2], 9000);
    EXPECT_GT(std::min(quarters[0], quarters[3]), 0);
}

TEST(Generate, makes_equal_and_sorted_keys) {
    const auto equal = keys_of(Distribution::equal, 100);
    EXPECT_EQ(std::ranges::count(equal, equal.front()), 100);
    const auto sorted = keys_of(Distribution::sorted, 1000);
    EXPECT_TRUE(std::ranges::is_sorted(sorted));
    EXPECT_EQ(sorted.front(), 0u);
    EXPECT_GT(sorted.back(), 0xFF000000u);
}

TEST(Fingerprint, does_not_depend_on_order) {
    auto keys = keys_of(Distribution::uniform, 1000);
    const auto before = fingerprint(keys);
    std::ranges::reverse(keys);
    EXPECT_EQ(fingerprint(keys), before);
}

TEST(Fingerprint, adds_up_over_parts) {
    const auto keys = keys_of(Distribution::uniform, 1000);
    Fingerprint sum = fingerprint(std::span(keys).first(123));
    sum += fingerprint(std::span(keys).subspan(123));
    EXPECT_EQ(sum, fingerprint(keys));
}

TEST(Fingerprint, sees_changes_that_keep_the_sum) {
    auto keys = keys_of(Distribution::uniform, 1000);
    const auto before = fingerprint(keys);
    ++keys[3];
    --keys[700];
    EXPECT_NE(fingerprint(keys), before);
}

class IsSortedWhole : public testing::Test {
protected:
    bool accepts() const {
        std::vector<Inspection> inspections;
        for (const auto& part : parts) inspections.push_back(inspect(part));
        return is_sorted_whole(inspections, wanted);
    }

    std::vector<std::vector<Key>> parts{{1, 2, 2}, {}, {2, 7}, {9}};
    Fingerprint wanted = fingerprint(std::vector<Key>{9, 2, 1, 7, 2, 2});
};

TEST_F(IsSortedWhole, accepts_parts_in_order) { EXPECT_TRUE(accepts()); }
TEST_F(IsSortedWhole, rejects_disorder_inside_a_part) {
    std::swap(parts[2][0], parts[2][1]);
    EXPECT_FALSE(accepts());
}
TEST_F(IsSortedWhole, rejects_disorder_between_parts) {
    std::swap(parts[2], parts[3]);
    EXPECT_FALSE(accepts());
}
TEST_F(IsSortedWhole, rejects_disorder_across_an_empty_part) {
    std::swap(parts[0][2], parts[2][1]);
    EXPECT_FALSE(accepts());
}
TEST_F(IsSortedWhole, rejects_a_lost_key) {
    parts[3].clear();
    EXPECT_FALSE(accepts());
}
TEST_F(IsSortedWhole, rejects_a_copied_key) {
    parts[2][1] = 2;
    EXPECT_FALSE(accepts());
}

} // namespace
} // namespace kumiki::kernels::radix_sort
