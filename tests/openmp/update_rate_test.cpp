// Which atomic updates a thread gathers.
#include "openmp/ranks/update_rate.hpp"

#include <gtest/gtest.h>

namespace kumiki::openmp {
namespace {

int gathered_of(UpdateRate& rate, int updates, bool is_real, std::uint64_t meetings) {
    int gathered = 0;
    for (int update = 0; update < updates; ++update) gathered += rate.update(is_real, meetings) ? 1 : 0;
    return gathered;
}

TEST(UpdateRateTest, ManyAreGatheredButTheFirst) {
    UpdateRate of_reals, of_integers;
    EXPECT_EQ(gathered_of(of_reals, 1000, true, 0), 1000 - 16);
    EXPECT_EQ(gathered_of(of_integers, 1000, false, 0), 1000 - 64 - 16);
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
