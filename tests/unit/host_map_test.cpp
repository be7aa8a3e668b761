#include <gtest/gtest.h>
#include <unistd.h>

#include "fabric/wireup/host_map.hpp"

namespace kumiki::fabric {
namespace {

Introduction on(const std::string& machine, const std::string& host, std::vector<int> cpus, int threads = 0) {
    Introduction rank;
    rank.machine = machine;
    rank.host = host;
    rank.threads = threads;
    rank.memory_bytes = std::uint64_t{3} << 30;
    rank.cpus = std::move(cpus);
    return rank;
}

Settings settled(const std::vector<Introduction>& all, int rank, Binding bind = Binding::core) {
    Settings settings;
    settings.bind = bind;
    HostMap(all, rank).settle(settings);
    return settings;
}

TEST(IntroductionTest, WhatIsPackedIsUnpacked) {
    Settings settings;
    settings.threads = {5, 3};
    settings.arena_bytes = 4096;
    auto own = Introduction::of_this_process(settings, 1);
    EXPECT_FALSE(own.machine.empty());
    EXPECT_EQ(own.process, getpid());
    EXPECT_FALSE(own.cpus.empty());
    own.host = "a name with blanks";
    for (const auto& cpus : {own.cpus, std::vector<int>{}}) {
        own.cpus = cpus;
        const auto other = Introduction::unpack(own.pack()).value();
        EXPECT_EQ(other.machine, own.machine);
        EXPECT_EQ(other.host, own.host);
        EXPECT_EQ(other.process, own.process);
        EXPECT_EQ(other.threads, 3) << "the number for rank 1";
        EXPECT_EQ(other.thread_counts, 2u);
        EXPECT_EQ(other.arena_bytes, 4096u);
        EXPECT_EQ(other.memory_bytes, own.memory_bytes);
        EXPECT_EQ(other.cpus, own.cpus);
    }
}

TEST(IntroductionTest, AStrangerIsRefused) {
    const std::string good = on("m", "h", {0, 1}).pack();
    ASSERT_TRUE(Introduction::unpack(good));
    std::string other_version = good;
    other_version[other_version.find('\n') - 1]++;
    for (const std::string& text : {std::string(), std::string("hello"), other_version, good + " x", good + " 1.5",
                                    good.substr(0, good.find_last_of('\n') + 5)}) {
        const auto stranger = Introduction::unpack(text);
        ASSERT_FALSE(stranger) << text;
        EXPECT_NE(stranger.error().message.find("start the same program"), std::string::npos);
    }
}

TEST(HostMapTest, RanksOfAHostAreCountedInTheirOrder) {
    const std::vector all = {on("m", "a", {0}), on("m", "b", {1}), on("n", "c", {0}), on("m", "a", {2}),
                             on("m", "a", {3})};
    const HostMap last(all, 4), only(all, 1);
    EXPECT_EQ(last.leader(), 0);
    EXPECT_FALSE(last.leads());
    EXPECT_EQ(last.local_rank(), 2);
    EXPECT_EQ(last.local_size(), 3);
    EXPECT_EQ(last.largest_local_size(), 3);
    EXPECT_TRUE(only.leads());
    EXPECT_EQ(only.local_size(), 1);
    EXPECT_EQ(only.largest_local_size(), 3);
    const auto settings = settled(all, 3);
    EXPECT_EQ(settings.rank, 3);
    EXPECT_EQ(settings.size, 5);
    EXPECT_EQ(settings.local_rank, 1);
    EXPECT_EQ(settings.local_size, 3);
}

TEST(HostMapTest, TheLeastArenaIsAWishOrTheSmallestMemory) {
    std::vector all = {on("m", "a", {0}), on("n", "b", {0})};
    auto least = HostMap(all, 0).least_arena();
    EXPECT_EQ(least.bytes, std::uint64_t{4} << 30) << "a power of two";
    EXPECT_FALSE(least.is_wish);
    all[1].arena_bytes = 100;
    least = HostMap(all, 0).least_arena();
    EXPECT_EQ(least.bytes, 100u);
    EXPECT_TRUE(least.is_wish);
}

TEST(HostMapTest, RanksThatShareProcessorsDivideThem) {
    // As mpirun without binding, over two network namespaces of one machine.
    const std::vector all = {on("m", "a", {0, 2, 4, 6, 8}), on("m", "b", {0, 2, 4, 6, 8})};
    EXPECT_EQ(settled(all, 0).threads, std::vector{2});
    EXPECT_EQ(settled(all, 0).cpus, (std::vector{0, 2}));
    EXPECT_EQ(settled(all, 1).cpus, (std::vector{4, 6}));
    EXPECT_FALSE(settled(all, 1).crowded);
    EXPECT_TRUE(settled(all, 1, Binding::none).cpus.empty());
}

TEST(HostMapTest, ProcessorsOfAnotherMachineAreNotShared) {
    const std::vector all = {on("m", "a", {0, 1}), on("n", "b", {0, 1})};
    for (int rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(settled(all, rank).threads, std::vector{2});
        EXPECT_EQ(settled(all, rank).cpus, (std::vector{0, 1}));
    }
}

TEST(HostMapTest, MoreThreadsThanProcessorsAreACrowd) {
    const std::vector too_many = {on("m", "a", {0, 1}, 3), on("m", "a", {2, 3, 4, 5}, 1), on("n", "b", {0})};
    EXPECT_TRUE(settled(too_many, 0).crowded);
    EXPECT_TRUE(settled(too_many, 1).crowded) << "the same for all ranks of a machine";
    EXPECT_FALSE(settled(too_many, 2).crowded);
    EXPECT_TRUE(settled(too_many, 0).cpus.empty());
    const std::vector together = {on("m", "a", {0, 1}, 2), on("m", "b", {0, 1}, 1)};
    EXPECT_TRUE(settled(together, 0).crowded) << "each alone would have room";
    const std::vector nowhere = {on("m", "a", {}), on("m", "a", {})};
    EXPECT_TRUE(settled(nowhere, 0).crowded) << "where the system tells no processors";
    EXPECT_EQ(settled(nowhere, 1).threads, std::vector{1});
}

TEST(HostMapTest, WhereSetsOverlapInOtherWaysNothingIsBound) {
    const std::vector overlapping = {on("m", "a", {0, 1}, 1), on("m", "a", {1, 2}, 1)};
    EXPECT_FALSE(settled(overlapping, 0).crowded);
    EXPECT_TRUE(settled(overlapping, 0).cpus.empty());
    EXPECT_TRUE(settled(overlapping, 0, Binding::shared).cpus.empty());
}

TEST(HostMapTest, RanksMayHaveDifferentNumbersOfThreads) {
    const std::vector all = {on("m", "a", {0, 2, 4, 6, 8}, 3), on("m", "a", {0, 2, 4, 6, 8}, 1),
                             on("m", "a", {0, 2, 4, 6, 8})};
    EXPECT_EQ(settled(all, 0).cpus, (std::vector{0, 2, 4}));
    EXPECT_EQ(settled(all, 1).cpus, std::vector{6});
    EXPECT_EQ(settled(all, 2).cpus, std::vector{8}) << "what the others leave";
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_FALSE(settled(all, rank).crowded);
        EXPECT_EQ(settled(all, rank).job_threads, (std::vector{3, 1, 1}));
    }
}

TEST(HostMapTest, ACrowdSharesProcessorsWhenAsked) {
    const std::vector all = {on("m", "a", {5, 7}, 3), on("m", "a", {5, 7}, 1)};
    EXPECT_TRUE(settled(all, 0).cpus.empty());
    EXPECT_TRUE(settled(all, 0, Binding::shared).crowded);
    EXPECT_EQ(settled(all, 0, Binding::shared).cpus, (std::vector{5, 5, 7}));
    EXPECT_EQ(settled(all, 1, Binding::shared).cpus, std::vector{7});
}

} // namespace
} // namespace kumiki::fabric
