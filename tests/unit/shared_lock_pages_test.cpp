// Pages that come with a lock, from a manager on another host that is their home.
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

#include "platform/memory.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

namespace kumiki::dsm {
namespace {

using tests::Lock;
using tests::Rank;
using tests::Watchdog;

constexpr tests::JobOptions two_hosts{.hosts = 2};

class SharedLockPagesTest : public testing::TestWithParam<FaultMechanism> {};

/// Words on one page, whose home is rank 0, as is the manager of lock 0.
volatile int* allocate_page(SharedMemory& memory) {
    return tests::allocate_shared<int>(memory, 2 * platform::page_size() / sizeof(int));
}

/// In each of twenty rounds rank 0 writes the number of the round into words[0] with lock 0, and then rank 1 calls
/// read(memory, words, round).
template <class Read>
void write_and_read(FaultMechanism mechanism, Read read) {
    tests::run_with_copies(mechanism, two_hosts, [read](Rank& rank, SharedMemory& memory) {
        auto* const words = allocate_page(memory);
        EXPECT_EQ(words[0], 0);
        ASSERT_TRUE(memory.barrier());
        for (int round = 1; round <= 20; ++round) {
            if (rank.rank() == 0) {
                Lock lock{memory, 0};
                const std::lock_guard guard(lock);
                words[0] = round;
            }
            ASSERT_TRUE(rank.collectives.barrier()); // of the ranks only
            if (rank.rank() == 1) read(memory, words, round);
            ASSERT_TRUE(rank.collectives.barrier());
        }
    });
}

TEST_P(SharedLockPagesTest, APageThatTheNewsDropNeedsNoFault) {
    const Watchdog watchdog("a page that comes with a lock");
    write_and_read(GetParam(), [](SharedMemory& memory, volatile int* words, int round) {
        const auto before = *memory.counters(nullptr);
        Lock lock{memory, 0, const_cast<int*>(words)};
        const std::lock_guard guard(lock);
        EXPECT_EQ(words[0], round);
        const auto after = *memory.counters(nullptr);
        EXPECT_EQ(after.faults, before.faults) << "round " << round;
        EXPECT_EQ(after.fetches, before.fetches + 1);
    });
}

// Rank 1 has written beside what rank 0 has, and has not released that: what comes with the lock lacks it.
TEST_P(SharedLockPagesTest, APageWithChangesOfItsOwnRankKeepsThem) {
    const Watchdog watchdog("a page with unreleased changes");
    write_and_read(GetParam(), [](SharedMemory& memory, volatile int* words, int round) {
        words[1] = round;
        Lock lock{memory, 0, const_cast<int*>(words)};
        const std::lock_guard guard(lock);
        EXPECT_EQ(words[0], round);
        EXPECT_EQ(words[1], round);
    });
}

// Threads of the same rank take other locks meanwhile, drop the page, fetch it again, and write to it.
TEST_P(SharedLockPagesTest, ThreadsThatDisturbEachOtherLoseNothing) {
    const Watchdog watchdog("pages that come to several threads");
    for (const int ranks : {2, 3})
        tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = ranks}, [](Rank& rank, SharedMemory& memory) {
            constexpr int threads = 3, rounds = 100, locks = 4;
            auto* const words = allocate_page(memory);
            ASSERT_TRUE(memory.barrier());
            std::vector<std::thread> team;
            for (int thread = 0; thread < threads; ++thread)
                team.emplace_back([&, thread] {
                    const int own = locks + rank.rank() * threads + thread; // nobody else's word
                    for (int round = 0; round < rounds; ++round) {
                        const int which = (round + thread) % locks;
                        Lock lock{memory, which, const_cast<int*>(words)};
                        const std::lock_guard guard(lock);
                        words[which] = words[which] + 1;
                        ASSERT_EQ(words[own], round);
                        words[own] = round + 1;
                    }
                });
            for (auto& each : team) each.join();
            ASSERT_TRUE(memory.barrier());
            for (int which = 0; which < locks; ++which)
                EXPECT_EQ(words[which], threads * rounds / locks * rank.size()) << "lock " << which;
            ASSERT_TRUE(memory.barrier());
        });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedLockPagesTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
