#include "launch/command/one_process.hpp"

#include <gtest/gtest.h>

namespace kumiki::launch {
namespace {

Share share_of(std::vector<RankRequest> requests) {
    const int ranks = static_cast<int>(requests.size());
    return {{}, 0, ranks, ranks, std::move(requests), {}};
}

TEST(OneProcess, HasTheThreadsAndProcessorsOfAllRanks) {
    Share share = share_of({{0, 2, {}}, {1, 1, {}}});
    Placement placement{.ranks = {{0, 2, {0, 1}, {0, 4, 1, 5}}, {1, 1, {2}, {2, 6}}}, .sharing = 2, .budget = 4};
    become_one_process(share, placement, false);
    ASSERT_EQ(placement.ranks.size(), 1U);
    const RankPlace& all = placement.ranks.front();
    EXPECT_EQ(all.size, 3);
    EXPECT_EQ(all.threads, (std::vector{0, 1, 2}));
    EXPECT_EQ(all.processors, (std::vector{0, 4, 1, 5, 2, 6}));
    EXPECT_EQ(all.variables, (Variables{{"OMP_PLACES", "{0,4,1,5}:2:0,{2,6}:1:0"}}));
    EXPECT_EQ((std::vector{share.ranks, share.size, share.requests.front().threads}), (std::vector{1, 1, 3}));
}

TEST(OneProcess, OfOneRankIsThatRank) {
    Share share = share_of({{0, 2, {}}});
    Placement placement{.ranks = {{0, 2, {0, 1}, {0, 1}}}, .sharing = 1, .budget = 4};
    become_one_process(share, placement, false);
    EXPECT_TRUE(placement.ranks.front().variables.empty());
}

TEST(OneProcess, LeavesTheBindingToAUserWhoWantsIt) {
    Share share = share_of({{0, 1, {}}, {1, 1, {}}});
    Placement placement{.ranks = {{0, 1, {0}, {0}}, {1, 1, {1}, {1}}}, .sharing = 2, .budget = 4};
    become_one_process(share, placement, true);
    EXPECT_TRUE(placement.ranks.front().variables.empty());
}

TEST(OneProcess, IsNotBoundIfARankIsNot) {
    Share share = share_of({{0, 1, {}}, {1, 2, {}}});
    Placement placement{.ranks = {{0, 1, {0}, {0}}, {1, 2, {}, {}}}, .sharing = 2, .budget = 2};
    become_one_process(share, placement, false);
    EXPECT_TRUE(placement.ranks.front().processors.empty());
    EXPECT_TRUE(placement.ranks.front().threads.empty());
    EXPECT_TRUE(placement.ranks.front().variables.empty());
}

TEST(OneProcess, SeesTheDevicesOfAllRanks) {
    const auto asks = [](std::vector<int> devices) {
        return DeviceRequest{.given = true, .all = false, .numbers = std::move(devices), .divided = false};
    };
    Share share = share_of({{0, 1, {3}, asks({0})}, {1, 1, {2}, asks({0, 1})}});
    Placement placement{.ranks = {{0, 1, {}, {}}, {1, 1, {}, {}}}, .sharing = 2, .budget = 2};
    become_one_process(share, placement, false);
    EXPECT_EQ(share.requests.front().devices, asks({0, 1}));
    EXPECT_EQ(share.requests.front().cores, (std::vector{3, 2}));
}

} // namespace
} // namespace kumiki::launch
