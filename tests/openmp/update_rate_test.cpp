// Which atomic updates a thread gathers.
#include "openmp/ranks/update_rate.hpp"

#include <gtest/gtest.h>

namespace kumiki::openmp {
namespace {

/// How many are gathered, if an update in order takes no time.
int gathered_of(UpdateRate& rate, int updates, bool is_real, std::uint64_t meetings) {
    int gathered = 0;
    for (int update = 0; update < updates; ++update) {
        const bool is_gathered = rate.update(is_real, meetings);
        if (!is_gathered) rate.made_in_order(UpdateRate::Clock::now());
        gathered += is_gathered ? 1 : 0;
    }
    return gathered;
}

TEST(UpdateRateTest, ManyAreGatheredButTheFirst) {
    UpdateRate of_reals, of_integers;
    for (UpdateRate* const rate : {&of_reals, &of_integers}) // as if one had been made long ago
        rate->made_in_order(UpdateRate::Clock::now() - std::chrono::minutes(1));
    int reals = 0, integers = 0;
    for (int update = 0; update < 1000; ++update) {
        reals += of_reals.update(true, 0) ? 1 : 0;
        integers += of_integers.update(false, 0) ? 1 : 0;
    }
    EXPECT_EQ(reals, 1000 - 16);
    EXPECT_EQ(integers, 1000 - 64 - 16);
}

TEST(UpdateRateTest, FromTimeToTimeOneIsMadeInOrder) {
    UpdateRate rate;
    rate.made_in_order(UpdateRate::Clock::now());
    const auto begin = UpdateRate::Clock::now();
    int in_order = 0, updates = 0;
    for (; UpdateRate::Clock::now() < begin + std::chrono::milliseconds(50); ++updates)
        if (!rate.update(true, 0)) {
            rate.made_in_order(UpdateRate::Clock::now() - std::chrono::microseconds(100));
            ++in_order;
        }
    EXPECT_GT(in_order, 16 + 1);
    EXPECT_LT(in_order, 16 + 12) << "fifty times as rarely as it takes time";
    EXPECT_GT(updates, 1000);
}

TEST(UpdateRateTest, FewBetweenMeetingsAreNeverGathered) {
    UpdateRate rate;
    for (std::uint64_t meeting = 0; meeting < 100; ++meeting) EXPECT_EQ(gathered_of(rate, 8, true, meeting), 0);
    UpdateRate others;
    for (int round = 0; round < 100; ++round) {
        EXPECT_EQ(gathered_of(others, 3, false, 0), 0);
        others.synchronise();
    }
}

TEST(UpdateRateTest, ManyBetweenMeetingsAreAllGatheredInTheEnd) {
    UpdateRate rate;
    for (std::uint64_t meeting = 0; meeting < 10; ++meeting) gathered_of(rate, 40, true, meeting);
    EXPECT_EQ(gathered_of(rate, 40, true, 10), 40);
    for (int locks = 0; locks < 3; ++locks) rate.synchronise();
    EXPECT_LT(gathered_of(rate, 10, true, 10), 10) << "a thread that only synchronises gathers nothing any more";
}

} // namespace
} // namespace kumiki::openmp
