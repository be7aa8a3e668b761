#include "launch/command/placement.hpp"

#include <gtest/gtest.h>
#include <set>

namespace kumiki::launch {
namespace {

using topology::Core;
using topology::UsableCores;

/// `packages` x `cores` x `hardware_threads`, numbered as Linux numbers many machines: first every core's first
/// hardware thread. Each package is one memory node and has `caches` last-level caches.
UsableCores machine(int packages, int cores, int hardware_threads, int caches = 1) {
    UsableCores usable;
    const int all = packages * cores;
    for (int core = 0; core < all; ++core) {
        const int package = core / cores;
        Core one{{}, {core / (cores / caches), package, package}};
        for (int thread = 0; thread < hardware_threads; ++thread) one.processors.push_back(core + thread * all);
        usable.cores.push_back(one);
    }
    usable.budget = all;
    return usable;
}

std::vector<int> threads_of(const Placement& placement, int rank) {
    return placement.ranks[static_cast<std::size_t>(rank)].threads;
}

TEST(Placement, GivesEachThreadACoreOfItsOwn) {
    for (const int ranks : {1, 2, 3, 4, 7, 16})
        for (int threads = 1; ranks * threads <= 16; ++threads) {
            const auto placement = place(machine(2, 8, 2, 2), ranks, threads, true);
            ASSERT_TRUE(placement.bound);
            ASSERT_FALSE(placement.crowded);
            std::set<int> used;
            for (const RankPlace& rank : placement.ranks) {
                ASSERT_EQ(rank.threads.size(), static_cast<std::size_t>(threads));
                ASSERT_EQ(rank.processors.size(), static_cast<std::size_t>(2 * threads));
                for (const int processor : rank.threads) {
                    ASSERT_LT(processor, 16) << "a second hardware thread";
                    ASSERT_TRUE(used.insert(processor).second) << "two threads on one core";
                }
            }
        }
}

TEST(Placement, RanksLieSideBySide) {
    const auto placement = place(machine(2, 8, 2), 3, 2, true);
    EXPECT_EQ(threads_of(placement, 0), (std::vector<int>{0, 1}));
    EXPECT_EQ(threads_of(placement, 1), (std::vector<int>{2, 3}));
    EXPECT_EQ(threads_of(placement, 2), (std::vector<int>{4, 5}));
    EXPECT_EQ(placement.ranks[1].processors, (std::vector<int>{2, 18, 3, 19}));
}

TEST(Placement, KeepsARankInsideACacheWhenThereIsRoom) {
    // Two packages of two caches with four cores each: three cores of each cache are used.
    const auto placement = place(machine(2, 8, 1, 2), 4, 3, true);
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(threads_of(placement, rank), (std::vector<int>{4 * rank, 4 * rank + 1, 4 * rank + 2}));
}

TEST(Placement, KeepsARankInsideAPackageWhenItsCachesAreTooSmall) {
    const auto placement = place(machine(2, 8, 1, 4), 2, 5, true);
    EXPECT_EQ(threads_of(placement, 1).front(), 8);
}

TEST(Placement, FillsTheMachineWhenThereIsNoRoomToSpare) {
    const auto placement = place(machine(2, 6, 1), 3, 4, true);
    EXPECT_EQ(threads_of(placement, 1), (std::vector<int>{4, 5, 6, 7}));
}

TEST(Placement, DoesNotBindACrowdedJob) {
    const auto placement = place(machine(2, 8, 2), 17, 1, true);
    EXPECT_TRUE(placement.crowded);
    EXPECT_FALSE(placement.bound);
    for (const RankPlace& rank : placement.ranks) EXPECT_TRUE(rank.threads.empty() && rank.processors.empty());
}

TEST(Placement, AQuotaCountsLikeMissingCores) {
    auto usable = machine(1, 8, 1);
    usable.budget = 2;
    EXPECT_TRUE(place(usable, 3, 1, true).crowded);
    EXPECT_FALSE(place(usable, 2, 1, true).crowded);
    EXPECT_EQ(default_threads(usable, 1), 2);
}

TEST(Placement, DoesNotBindWhenToldNotTo) {
    const auto placement = place(machine(2, 8, 2), 2, 1, false);
    EXPECT_FALSE(placement.bound);
    EXPECT_FALSE(placement.crowded);
    EXPECT_TRUE(threads_of(placement, 0).empty());
}

TEST(Placement, SharesCoresAmongRanks) {
    EXPECT_EQ(default_threads(machine(2, 8, 2), 1), 16);
    EXPECT_EQ(default_threads(machine(2, 8, 2), 3), 5);
    EXPECT_EQ(default_threads(machine(2, 8, 2), 100), 1);
}

} // namespace
} // namespace kumiki::launch
