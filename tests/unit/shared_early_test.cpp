#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "dsm/early_requests.hpp"
#include "dsm/place_order.hpp"
#include "support/build.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Pages that are requested ahead of a barrier, and that their homes send when they leave it, over two hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

constexpr std::size_t words = 4096 / sizeof(std::uint32_t);

std::optional<std::uint64_t> place_after(const PlaceOrder& order) {
    const auto next = order.next();
    return next ? std::optional(next->place) : std::nullopt;
}

TEST(PlaceOrderTest, WhatHasFollowedTwiceFollowsAgain) {
    PlaceOrder order;
    for (const std::uint64_t place : {1, 2, 3, 1, 2, 3, 1, 2}) {
        EXPECT_EQ(order.next(), std::nullopt) << "so far each has followed once";
        order.add(place);
    }
    EXPECT_EQ(place_after(order), 3u);
    order.add(4);
    for (const std::uint64_t place : {3, 1, 2}) order.add(place);
    EXPECT_EQ(order.next(), std::nullopt) << "the last time it was another one";
}

TEST(PlaceOrderTest, TheLastTwoPlacesTell) {
    PlaceOrder order;
    for (int round = 0; round < 5; ++round)
        for (const std::uint64_t place : {1, 2, 1, 3}) { // what follows 1 depends on what was before it
            if (round > 2) {
                EXPECT_EQ(place_after(order), place);
            }
            order.add(place);
        }
}

TEST(PlaceOrderTest, ManyPlacesTellMore) {
    PlaceOrder order;
    for (int round = 0; round < 6; ++round)
        for (const std::uint64_t place : {1, 2, 1, 2, 1, 2, 3, 4, 1, 2, 1, 2, 5, 6}) { // the last two are 1 and 2 often
            if (round > 3) {
                EXPECT_EQ(place_after(order), place) << "round " << round;
            }
            order.add(place);
        }
    order.add(7); // something unusual
    for (const std::uint64_t place : {1, 2, 3}) order.add(place);
    EXPECT_EQ(place_after(order), 4u) << "after 2 and 3";
}

TEST(PlaceOrderTest, AVisitIsForeseenWithItsWay) {
    PlaceOrder order;
    for (int round = 0; round < 20; ++round) {
        for (const std::uint64_t place : {1, 2, 1, 3}) {
            const auto foreseen = order.next();
            const Visit visit = order.add(place);
            if (round > 15) {
                EXPECT_EQ(foreseen, visit);
            }
        }
    }
}

TEST(EarlyRequestsTest, AreKeptUntilTheirBarrier) {
    EarlyRequests requests(3);
    const auto put = [&requests](int source, std::uint64_t barrier) { return requests.put({source, 0, barrier, {}}); };
    EXPECT_EQ(put(1, 5), EarlyRequests::Put::kept);
    EXPECT_EQ(put(2, 6), EarlyRequests::Put::kept) << "by a rank that is a barrier ahead";
    EXPECT_EQ(put(3, 5), EarlyRequests::Put::kept);
    EXPECT_EQ(put(4, 5), EarlyRequests::Put::too_many);
    const auto due = requests.take(5);
    ASSERT_EQ(due.size(), 2u);
    EXPECT_EQ(due[0].source, 1);
    EXPECT_EQ(due[1].source, 3);
    EXPECT_EQ(put(4, 5), EarlyRequests::Put::late);
    EXPECT_EQ(requests.take(6).size(), 1u);
    EXPECT_TRUE(requests.take(7).empty());
}

class SharedEarlyTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(int ranks, Body body) {
        tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = 2}, body);
    }
};

/// Rank 0 writes these pages, and the others read them, in each round.
std::uint64_t early_fetches(Rank& rank, SharedMemory& memory, std::size_t pages, std::uint32_t rounds) {
    auto* const array = tests::allocate_shared<std::uint32_t>(memory, pages * words, Placement::first_rank);
    for (std::uint32_t round = 1; round <= rounds; ++round) {
        for (std::size_t page = 0; page < pages && rank.rank() == 0; ++page) array[page * words + round] = round;
        EXPECT_TRUE(memory.barrier());
        memory.begin_interval(1);
        for (std::size_t page = 0; page < pages; ++page) EXPECT_EQ(array[page * words + round], round);
        EXPECT_TRUE(memory.barrier());
        memory.begin_interval(2);
    }
    return memory.counters(array)->early_fetches;
}

TEST_P(SharedEarlyTest, PagesComeWithTheBarrier) {
    const Watchdog watchdog("pages that come with the barrier");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 20;
        constexpr std::uint32_t rounds = 50, others = 5; // before the first expected one, and until it is certain
        const std::uint64_t early = early_fetches(rank, memory, pages, rounds);
        EXPECT_GE(early, rank.rank() == 0 ? 0 : (rounds - others) * pages);
        EXPECT_LE(early, rank.rank() == 0 ? 0 : rounds * pages);
        ASSERT_TRUE(memory.barrier());
    });
}

// In each round rank 1 changes a page of rank 0, and reads another one, which rank 0 has written.
TEST_P(SharedEarlyTest, DifferencesAndRequestsTravelWithTheNotices) {
    const Watchdog watchdog("one message for each barrier");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::uint32_t rounds = 100, others = 40; // messages until it is known what is needed, and heartbeats
        auto* const array = tests::allocate_shared<std::uint32_t>(memory, 2 * words, Placement::first_rank);
        const auto messages = [&rank] { return rank.fabric.network()->traffic().messages; };
        const std::uint64_t before = messages();
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            array[rank.rank() == 0 ? 0 : words] = round;
            ASSERT_TRUE(memory.barrier());
            memory.begin_interval(1);
            ASSERT_EQ(array[rank.rank() == 0 ? words : 0], round);
            ASSERT_TRUE(memory.barrier());
            memory.begin_interval(2);
        }
        if (rank.rank() == 1) {
            EXPECT_LE(messages() - before, 2 * rounds + others);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

TEST_P(SharedEarlyTest, ManyPagesAreFetchedAfterTheBarrier) {
    const Watchdog watchdog("many pages");
    run(2, [](Rank& rank, SharedMemory& memory) {
        EXPECT_EQ(early_fetches(rank, memory, EarlyRequests::most_pages + 1, 10), 0u);
        ASSERT_TRUE(memory.barrier());
    });
}

// Rank 0 is the home of more pages than it sends: what it declines is requested after the barrier.
TEST_P(SharedEarlyTest, AHomeDeclinesWhatWouldBeTooMuch) {
    const Watchdog watchdog("a home that declines");
    std::atomic<std::uint64_t> all{0};
    run(4, [&all](Rank& rank, SharedMemory& memory) {
        constexpr std::uint32_t rounds = 20;
        all += early_fetches(rank, memory, EarlyRequests::most_pages, rounds); // by the two ranks of the other host
        ASSERT_TRUE(memory.barrier());
        EXPECT_GT(all, 0u);
        EXPECT_LE(all, rounds * EarlyRequests::most_pages);
    });
}

// Rank 0 writes under a lock after it has sent the page, and rank 1 has the lock before its interval begins.
TEST_P(SharedEarlyTest, WhatALockTellsMeanwhileIsSeen) {
    const Watchdog watchdog("a lock before the interval");
    std::atomic<std::uint32_t> written{0}; // by rank 0; both are threads of this process
    run(2, [&written](Rank& rank, SharedMemory& memory) {
        auto* const array = tests::allocate_shared<std::uint32_t>(memory, words, Placement::first_rank);
        dsm::Locks& locks = **memory.locks("test");
        if (rank.rank() == 0) written = 0;
        ASSERT_TRUE(memory.barrier());
        for (std::uint32_t round = 1; round <= 30; ++round) {
            if (rank.rank() == 0) array[0] = round;
            ASSERT_TRUE(memory.barrier());
            const bool locked = round > 15;
            if (locked && rank.rank() == 0) {
                ASSERT_TRUE(locks.acquire(0));
                array[1] = round;
                ASSERT_TRUE(locks.release(0));
                written = round;
            } else if (locked) {
                while (written < round) std::this_thread::yield();
                ASSERT_TRUE(locks.acquire(0));
                ASSERT_TRUE(locks.release(0));
            }
            memory.begin_interval(1);
            if (rank.rank() == 1) {
                ASSERT_EQ(array[0], round);
                ASSERT_EQ(array[1], locked ? round : 0);
            }
            ASSERT_TRUE(memory.barrier());
            memory.begin_interval(2);
        }
        if (rank.rank() == 1) {
            EXPECT_GT(memory.counters(array)->early_fetches, 5u) << "before the locks";
        }
        ASSERT_TRUE(memory.barrier());
    });
}

// The homes of the pages move, so the rank that was asked is no longer the one to send them.
TEST_P(SharedEarlyTest, HomesMayMoveInTheBarrier) {
    const Watchdog watchdog("homes that move");
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 12;
        auto* const array = tests::allocate_shared<std::uint32_t>(memory, pages * words, Placement::relocated);
        for (std::uint32_t round = 1; round <= 120; ++round) {
            const auto writer = static_cast<int>(round / 20 % 3); // long enough for it to become the home
            for (std::size_t page = 0; page < pages && rank.rank() == writer; ++page) array[page * words] = round;
            ASSERT_TRUE(memory.barrier());
            memory.begin_interval(1);
            for (std::size_t page = 0; page < pages; ++page) ASSERT_EQ(array[page * words], round);
            ASSERT_TRUE(memory.barrier());
            memory.begin_interval(2);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedEarlyTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
