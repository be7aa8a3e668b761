#include "launch/command/placement.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace kumiki::launch {
namespace {

using topology::Core;
using topology::UsableCores;

/// `packages` x `cores` x `hardware_threads`, numbered as Linux numbers many machines: the first hardware threads of
/// all cores come first. Each package is one memory node and has `caches` last-level caches.
UsableCores machine(int packages, int cores, int hardware_threads, int caches = 1) {
    UsableCores usable;
    const int all = packages * cores;
    for (int core = 0; core < all; ++core) {
        const int package = core / cores;
        Core one{{}, {core / (cores / caches), package, package}, core};
        for (int thread = 0; thread < hardware_threads; ++thread) one.processors.push_back(core + thread * all);
        usable.cores.push_back(one);
    }
    usable.budget = all;
    return usable;
}

/// `ranks` ranks with the same number of threads and no other requests.
std::vector<RankRequest> alike(int ranks, int threads) {
    std::vector<RankRequest> requests;
    for (int rank = 0; rank < ranks; ++rank) requests.push_back({rank, threads, {}});
    return requests;
}

Placement place(const UsableCores& usable, int ranks, int threads, Binding bind = Binding::core) {
    return launch::place(usable, alike(ranks, threads), bind).value();
}

std::vector<int> default_threads(const UsableCores& usable, std::vector<RankRequest> ranks) {
    decide_threads(ranks, usable.budget);
    return threads_of(ranks);
}

std::vector<int> threads_of(const Placement& placement, int rank) {
    return placement.ranks[static_cast<std::size_t>(rank)].threads;
}

TEST(Placement, GivesEachThreadACoreOfItsOwn) {
    for (const int ranks : {1, 2, 3, 4, 7, 16})
        for (int threads = 1; ranks * threads <= 16; ++threads) {
            const auto placement = place(machine(2, 8, 2, 2), ranks, threads);
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
    const auto placement = place(machine(2, 8, 2), 3, 2);
    EXPECT_EQ(threads_of(placement, 0), (std::vector<int>{0, 1}));
    EXPECT_EQ(threads_of(placement, 1), (std::vector<int>{2, 3}));
    EXPECT_EQ(threads_of(placement, 2), (std::vector<int>{4, 5}));
    EXPECT_EQ(placement.ranks[1].processors, (std::vector<int>{2, 18, 3, 19}));
}

TEST(Placement, KeepsARankInsideACacheWhenThereIsRoom) {
    // Two packages of two caches with four cores each; three cores of each cache are used.
    const auto placement = place(machine(2, 8, 1, 2), 4, 3);
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(threads_of(placement, rank), (std::vector<int>{4 * rank, 4 * rank + 1, 4 * rank + 2}));
}

TEST(Placement, KeepsARankInsideAPackageWhenItsCachesAreTooSmall) {
    const auto placement = place(machine(2, 8, 1, 4), 2, 5);
    EXPECT_EQ(threads_of(placement, 1).front(), 8);
}

TEST(Placement, FillsTheMachineWhenThereIsNoRoomToSpare) {
    const auto placement = place(machine(2, 6, 1), 3, 4);
    EXPECT_EQ(threads_of(placement, 1), (std::vector<int>{4, 5, 6, 7}));
}

TEST(Placement, DoesNotBindACrowdedJob) {
    const auto placement = place(machine(2, 8, 2), 17, 1);
    EXPECT_TRUE(placement.crowded);
    for (const RankPlace& rank : placement.ranks) EXPECT_TRUE(rank.threads.empty() && rank.processors.empty());
}

TEST(Placement, AQuotaCountsLikeMissingCores) {
    auto usable = machine(1, 8, 1);
    usable.budget = 2;
    EXPECT_TRUE(place(usable, 3, 1).crowded);
    EXPECT_FALSE(place(usable, 2, 1).crowded);
    EXPECT_EQ(default_threads(usable, alike(1, 0)), std::vector<int>{2});
}

TEST(Placement, DoesNotBindWhenToldNotTo) {
    const auto placement = place(machine(2, 8, 2), 2, 1, Binding::none);
    EXPECT_FALSE(placement.crowded);
    EXPECT_TRUE(threads_of(placement, 0).empty());
}

TEST(Placement, SharesCoresAmongRanks) {
    EXPECT_EQ(default_threads(machine(2, 8, 2), alike(1, 0)), std::vector<int>(1, 16));
    EXPECT_EQ(default_threads(machine(2, 8, 2), alike(3, 0)), std::vector<int>(3, 5));
    EXPECT_EQ(default_threads(machine(2, 8, 2), alike(100, 0)), std::vector<int>(100, 1));
}

TEST(Placement, ARankForWhichNothingIsAskedGetsWhatTheOthersLeave) {
    EXPECT_EQ(default_threads(machine(1, 8, 1), {{0, 4, {}}, {1, 0, {}}, {2, 0, {}}}), (std::vector{4, 2, 2}));
    EXPECT_EQ(default_threads(machine(1, 8, 1), {{0, 0, {0, 1, 2}}, {1, 0, {}}}), (std::vector{3, 5}));
    EXPECT_EQ(default_threads(machine(1, 8, 1), {{0, 9, {}}, {1, 0, {}}}), (std::vector{9, 1}));
}

TEST(Placement, RanksOfDifferentSizesLieSideBySide) {
    const auto placement = launch::place(machine(1, 8, 1), {{0, 4, {}}, {1, 1, {}}, {2, 3, {}}}, Binding::core);
    ASSERT_TRUE(placement);
    EXPECT_EQ(threads_of(*placement, 0), (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(threads_of(*placement, 1), std::vector{4});
    EXPECT_EQ(threads_of(*placement, 2), (std::vector{5, 6, 7}));
    // Four cores to each cache: the rank of three threads would cross the border.
    const auto kept = launch::place(machine(1, 8, 1, 2), {{0, 2, {}}, {1, 3, {}}, {2, 1, {}}}, Binding::core);
    EXPECT_EQ(threads_of(*kept, 1), (std::vector{4, 5, 6}));
    EXPECT_EQ(threads_of(*kept, 2), std::vector{7});
}

TEST(Placement, RanksGetTheCoresThatAreAskedForAndTheOthersTheRest) {
    const auto placement = launch::place(machine(1, 4, 2), {{0, 1, {}}, {1, 2, {0, 2}}, {2, 1, {}}}, Binding::core);
    ASSERT_TRUE(placement);
    EXPECT_FALSE(placement->crowded);
    EXPECT_EQ(threads_of(*placement, 0), std::vector{1});
    EXPECT_EQ(threads_of(*placement, 1), (std::vector{0, 2}));
    EXPECT_EQ(placement->ranks[1].processors, (std::vector{0, 4, 2, 6}));
    EXPECT_EQ(threads_of(*placement, 2), std::vector{3});
}

TEST(Placement, CoresThatAreAskedForHoldWithoutBindingToo) {
    const auto placement = launch::place(machine(1, 4, 1), {{0, 2, {3, 1}}, {1, 1, {}}}, Binding::none);
    EXPECT_TRUE(threads_of(*placement, 0).empty());
    EXPECT_EQ(placement->ranks[0].processors, (std::vector{3, 1}));
    EXPECT_TRUE(placement->ranks[1].processors.empty());
}

TEST(Placement, ARankWithMoreThreadsThanItsCoresIsCrowded) {
    const auto loose = launch::place(machine(1, 4, 1), {{0, 3, {1, 2}}, {1, 1, {}}}, Binding::core);
    EXPECT_TRUE(loose->crowded);
    EXPECT_TRUE(threads_of(*loose, 0).empty());
    EXPECT_EQ(loose->ranks[0].processors, (std::vector{1, 2}));
    EXPECT_EQ(threads_of(*loose, 1), std::vector{0});
    const auto shared = launch::place(machine(1, 4, 1), {{0, 3, {1, 2}}}, Binding::shared);
    EXPECT_EQ(threads_of(*shared, 0), (std::vector{1, 1, 2}));
}

TEST(Placement, ACrowdedJobSharesTheCoresEvenlyWhenAsked) {
    for (const auto& sizes : {std::vector{1, 1, 1, 1}, std::vector{3, 1}, std::vector{5, 2, 1}, std::vector{9}}) {
        std::vector<RankRequest> ranks;
        for (const int size : sizes) ranks.push_back({0, size, {}});
        const auto placement = launch::place(machine(1, 3, 2), ranks, Binding::shared);
        ASSERT_TRUE(placement && placement->crowded);
        std::vector<int> load(3), order;
        for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
            ASSERT_EQ(placement->ranks[rank].threads.size(), static_cast<std::size_t>(sizes[rank]));
            std::set<int> own;
            for (const int processor : placement->ranks[rank].threads) {
                ++load[static_cast<std::size_t>(processor)];
                order.push_back(processor);
                own.insert({processor, processor + 3});
            }
            const auto& processors = placement->ranks[rank].processors;
            EXPECT_EQ(std::set(processors.begin(), processors.end()), own);
            EXPECT_EQ(processors.size(), own.size());
        }
        EXPECT_TRUE(std::ranges::is_sorted(order));
        EXPECT_LE(std::ranges::max(load) - std::ranges::min(load), 1);
    }
    EXPECT_EQ(threads_of(place(machine(1, 4, 1), 2, 2, Binding::shared), 1), (std::vector{2, 3})) << "enough for all";
}

TEST(Placement, MistakesNameTheRankAndTheCore) {
    const auto mistake = [](std::vector<RankRequest> ranks, Binding bind = Binding::core) {
        const auto placement = launch::place(machine(1, 4, 1), std::move(ranks), bind);
        return placement ? "" : placement.error().message;
    };
    EXPECT_EQ(mistake({{0, 1, {}}, {1, 1, {2, 4}}}),
              "rank 1: there is no core 4 that this job may use; it may use cores 0-3 (`kumiki topology` shows them)");
    EXPECT_EQ(mistake({{4, 1, {2}}, {7, 1, {1, 2}}}),
              "ranks 4 and 7 both ask for core 2; give each rank cores of its own, or let them share it with --bind "
              "shared");
    EXPECT_EQ(mistake({{4, 1, {2}}, {7, 1, {1, 2}}}, Binding::shared), "");
    EXPECT_TRUE(launch::place(machine(1, 4, 1), {{0, 1, {2}}, {1, 1, {2}}}, Binding::shared)->crowded);
}

TEST(Placement, APartOfTheCoresIsAMachineOfItsOwn) {
    const auto part = topology::restrict(machine(1, 8, 1), {6, 2, 3});
    ASSERT_TRUE(part);
    EXPECT_EQ(part->budget, 3);
    EXPECT_EQ(topology::numbers_of(part->cores), (std::vector{2, 3, 6}));
    EXPECT_FALSE(topology::restrict(*part, {4}));
}

} // namespace
} // namespace kumiki::launch
