#include "kernels/is/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kumiki::kernels::is {
namespace {

constexpr LeadingDigit by_four{2}; // four values in each bucket

TEST(Ranks, are_how_many_keys_are_smaller) {
    Ranks ranks(by_four);
    ranks.begin({5, 7}); // the values 20 .. 27
    EXPECT_FALSE(ranks.has(19));
    EXPECT_TRUE(ranks.has(20));
    EXPECT_TRUE(ranks.has(27));
    EXPECT_FALSE(ranks.has(28));
    ranks.count(5, std::array<Key, 3>{21, 23, 21});
    ranks.count(5, std::array<Key, 1>{20});
    ranks.count(6, std::array<Key, 2>{27, 24});
    ranks.finish(5, 100);
    ranks.finish(6, 104);
    const std::uint32_t wanted[] = {100, 101, 103, 103, 104, 105, 105, 105};
    for (Key key = 20; key < 28; ++key) EXPECT_EQ(ranks[key], wanted[key - 20]) << key;
}

TEST(Ranks, begin_anew) {
    Ranks ranks(by_four);
    for (int round = 0; round < 2; ++round) {
        ranks.begin({0, 1});
        ranks.count(0, std::array<Key, 2>{1, 3});
        ranks.finish(0, 0);
        EXPECT_EQ(ranks[3], 1u);
    }
}

class ArrangementTest : public testing::Test {
protected:
    ArrangementTest() : keys(1000) {
        std::mt19937 random(1);
        for (Key& key : keys) key = 16 + random() % 16;
        ranks.begin({4, 8});
        std::uint64_t smaller = 77;
        for (std::size_t bucket = 4; bucket < 8; ++bucket) {
            std::vector<Key> own;
            std::ranges::copy_if(keys, std::back_inserter(own), [&](Key key) { return by_four(key) == bucket; });
            ranks.count(bucket, own);
            ranks.finish(bucket, smaller);
            smaller += own.size();
        }
    }
    bool complete() const {
        Arrangement arrangement(ranks, 77, keys.size());
        arrangement.place(keys);
        return arrangement.complete() && fingerprint(arrangement.keys()) == fingerprint(keys);
    }

    std::vector<Key> keys;
    Ranks ranks{by_four};
};

TEST_F(ArrangementTest, puts_keys_in_order) { EXPECT_TRUE(complete()); }
TEST_F(ArrangementTest, finds_a_rank_too_high) {
    ++ranks[20];
    EXPECT_FALSE(complete());
}
TEST_F(ArrangementTest, finds_a_rank_too_low) {
    --ranks[20];
    EXPECT_FALSE(complete());
}
TEST_F(ArrangementTest, finds_a_rank_out_of_reach) {
    ranks[16] = 0;
    EXPECT_FALSE(complete());
}
TEST_F(ArrangementTest, finds_a_lost_key) {
    keys.pop_back();
    keys.push_back(keys.front());
    EXPECT_FALSE(complete());
}

} // namespace
} // namespace kumiki::kernels::is
