#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "support/build.hpp"
#include "wait/meeting.hpp"

namespace kumiki::wait {
namespace {

/// Which party signals to which other party in which round.
std::vector<std::vector<int>> schedule(int parties) {
    std::vector<std::vector<int>> told(static_cast<std::size_t>(parties));
    for (int me = 0; me < parties; ++me) {
        int awaited = 0;
        disseminate(
            me, parties,
            [&](int other, int round) {
                EXPECT_EQ(round, static_cast<int>(told[static_cast<std::size_t>(me)].size()))
                    << "rounds are told in order";
                told[static_cast<std::size_t>(me)].push_back(other);
            },
            [&](int round) {
                EXPECT_EQ(round, awaited++);
                EXPECT_EQ(told[static_cast<std::size_t>(me)].size(), static_cast<std::size_t>(awaited))
                    << "tell, then await";
                return true;
            });
    }
    return told;
}

TEST(DisseminateTest, EveryPartyHearsOfAllAndOfEachRoundOnce) {
    for (int parties = 1; parties <= 130; ++parties) {
        const auto told = schedule(parties);
        const std::size_t rounds = told[0].size();
        EXPECT_LE(rounds, static_cast<std::size_t>(most_rounds));
        EXPECT_LT(rounds == 0 ? 0 : 1 << (rounds - 1), parties) << "no round too many";
        std::vector<std::set<int>> heard_of;
        for (int party = 0; party < parties; ++party) heard_of.push_back({party});
        for (std::size_t round = 0; round < rounds; ++round) {
            auto next = heard_of;
            std::map<int, int> tellers;
            for (int party = 0; party < parties; ++party) {
                const auto& from = heard_of[static_cast<std::size_t>(party)];
                const int other = told[static_cast<std::size_t>(party)][round];
                ASSERT_TRUE(other >= 0 && other < parties && other != party);
                next[static_cast<std::size_t>(other)].insert(from.begin(), from.end());
                EXPECT_EQ(++tellers[other], 1) << "a flag has one writer";
            }
            heard_of = next;
        }
        for (const auto& all : heard_of) ASSERT_EQ(all.size(), static_cast<std::size_t>(parties));
    }
}

TEST(DisseminateTest, TheLargestJobHasRoundsEnough) {
    int rounds = 0;
    disseminate(0, 1 << most_rounds, [&](int, int) { ++rounds; }, [](int) { return true; });
    EXPECT_EQ(rounds, most_rounds);
}

TEST(DisseminateTest, WhoGivesUpTellsNobodyMore) {
    int told = 0;
    EXPECT_FALSE(disseminate(0, 16, [&](int, int) { ++told; }, [](int round) { return round < 1; }));
    EXPECT_EQ(told, 2);
}

TEST(GateTest, OpensOnceWhenTheLastHasCome) {
    Gate gate{};
    for (std::uint64_t epoch = 1; epoch <= 3; ++epoch)
        for (int party = 1; party <= 5; ++party) {
            int opened = 0;
            EXPECT_EQ(gate.arrive(5,
                                  [&] {
                                      ++opened;
                                      EXPECT_TRUE(gate.opened(epoch)) << "open before it is told";
                                  }),
                      epoch);
            EXPECT_EQ(opened, party == 5 ? 1 : 0);
            EXPECT_EQ(gate.opened(epoch), party == 5);
        }
}

// Only arrives and looks, as in the split-phase barrier: no party helps in between.
TEST(GateStress, HoldsBackUntilAllHaveCome) {
    constexpr int parties = 3;
    Gate gate{};
    std::atomic<std::uint64_t> arrived{0};
    std::vector<std::thread> threads;
    for (int party = 0; party < parties; ++party)
        threads.emplace_back([&] {
            for (std::uint64_t now = 1; now <= tests::rounds(5000); ++now) {
                arrived.fetch_add(1, std::memory_order_relaxed);
                const std::uint64_t epoch = gate.arrive(parties, [] {});
                ASSERT_EQ(epoch, now);
                while (!gate.opened(epoch)) std::this_thread::yield();
                ASSERT_GE(arrived.load(std::memory_order_relaxed), now * parties);
            }
        });
    for (auto& thread : threads) thread.join();
}

} // namespace
} // namespace kumiki::wait
