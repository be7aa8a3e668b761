#include <array>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "face/job.hpp"
#include "kumiki/kumiki.h"
#include "support/jobs.hpp"
#include "support/ranks.hpp"
#include "support/random.hpp"
#include "support/rank_pair.hpp"
#include "support/watchdog.hpp"

// Tests of what exists only with several hosts. Everything else is tested over the network by the same tests as on one
// host (NETWORK in CMakeLists.txt).
namespace kumiki::fabric {
namespace {

using namespace std::chrono_literals;
using tests::Rank;
using tests::run_ranks_as_threads;
using tests::Watchdog;

TEST(NetworkTest, RanksMeetHoweverTheyAreDealt) {
    const Watchdog watchdog("a barrier over hosts");
    for (const auto& [ranks, hosts] : {std::pair{2, 2}, {3, 2}, {4, 2}, {5, 5}, {8, 3}}) {
        std::atomic<int> entered{0};
        run_ranks_as_threads({.ranks = ranks, .hosts = hosts}, [&, ranks = ranks](Rank& rank) {
            for (int round = 1; round <= 20; ++round) {
                entered.fetch_add(1);
                ASSERT_TRUE(rank.collectives.barrier());
                ASSERT_GE(entered.load(), ranks * round) << "somebody left before all had come";
            }
        });
    }
}

// A connection that ends may take along what its other end has not read yet.
TEST(NetworkTest, ARankLeavesWhenTheOthersHaveWhatItSent) {
    std::array<int, 2> entering{}, go{};
    ASSERT_EQ(pipe(entering.data()), 0);
    ASSERT_EQ(pipe(go.data()), 0);
    char byte = 0;
    tests::RankPair ranks;
    ranks.start(0, [&](Rank&) { ASSERT_EQ(read(go[0], &byte, 1), 1); });
    ranks.start(1, [&](Rank&) { ASSERT_EQ(write(entering[1], &byte, 1), 1); });
    const Watchdog watchdog("a rank that leaves before a slow one");
    ASSERT_EQ(read(entering[0], &byte, 1), 1);
    std::this_thread::sleep_for(200ms); // until rank 1 has sent its message of the last barrier, and waits
    ranks.processes().stop(1);
    ASSERT_EQ(write(go[1], &byte, 1), 1);
    ASSERT_FALSE(ranks.processes().ended_within(0, 1500ms)) << "rank 1 has not read the last message";
    ranks.processes().kill(1, SIGCONT);
    tests::expect_good_ends(ranks.processes());
    for (const int each : {entering[0], entering[1], go[0], go[1]}) close(each);
}

// F13, F14: remote memory operations do not need the target's program.
TEST(NetworkTest, TheAgentServesATargetThatNeverCalls) {
    const Watchdog watchdog("a target that never calls the library");
    std::atomic<bool> done{false};
    tests::run_jobs_as_threads({.ranks = 2, .hosts = 2}, [&](kumiki_job* job) {
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 1 << 20, &region), KUMIKI_OK);
        auto* words = static_cast<std::uint64_t*>(region);
        if (kumiki_rank(job) == 1) {
            while (!done.load()) tests::compute_for(10us);
        } else {
            std::vector<std::uint64_t> data((1 << 17) - 8, 7), back(data.size());
            std::uint64_t before = 1;
            EXPECT_EQ(kumiki_put(job, 1, words + 8, data.data(), data.size() * 8), KUMIKI_OK);
            EXPECT_EQ(kumiki_get(job, 1, words + 8, back.data(), back.size() * 8), KUMIKI_OK);
            EXPECT_EQ(back, data);
            EXPECT_EQ(kumiki_fetch_add(job, 1, words, 5, &before), KUMIKI_OK);
            EXPECT_EQ(before, 0u);
            EXPECT_EQ(kumiki_compare_swap(job, 1, words, 5, 6, &before), KUMIKI_OK);
            EXPECT_EQ(before, 5u);
            EXPECT_EQ(kumiki_swap(job, 1, words, 9, &before), KUMIKI_OK);
            EXPECT_EQ(before, 6u);
            done = true;
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

// A rank whose handlers are slow must not be flooded: its senders wait.
TEST(NetworkTest, ActiveMessagesToASlowRankAreLimited) {
    const Watchdog watchdog("a rank with slow handlers");
    constexpr std::uint64_t messages = 20000;
    std::atomic<std::uint64_t> sent{0}, handled{0};
    std::atomic<bool> go_on{false};
    run_ranks_as_threads({.ranks = 2, .hosts = 2}, [&](Rank& rank) {
        const int handler = rank.collectives
                                .add_handler([&](int, auto) {
                                    while (!go_on.load()) std::this_thread::sleep_for(1ms);
                                    handled.fetch_add(1);
                                })
                                .value();
        if (rank.rank() == 0) {
            std::thread sender([&] {
                for (; sent.load() < messages; sent.fetch_add(1)) rank.fabric.messenger().send(1, handler, {});
            });
            for (std::uint64_t before = ~0ull; before != sent.load();) {
                before = sent.load();
                std::this_thread::sleep_for(200ms);
            }
            // A message that has found a place in the inbox may have returned its credit.
            EXPECT_LE(sent.load(), fabric::Credits::window + fabric::shm::Inbox::slots);
            EXPECT_GE(sent.load(), fabric::Credits::window);
            go_on = true;
            sender.join();
        }
        ASSERT_TRUE(rank.collectives.barrier());
        while (handled.load() < messages) std::this_thread::sleep_for(1ms);
    });
    EXPECT_EQ(handled.load(), messages);
}

// Data that were put to one rank have arrived when another rank leaves the barrier that the sender has entered.
TEST(NetworkTest, ABarrierCompletesPuts) {
    const Watchdog watchdog("puts before a barrier");
    tests::run_jobs_as_threads({.ranks = 4, .hosts = 2}, [](kumiki_job* job) {
        constexpr std::size_t count = 20000;
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 4 * count * 4, &region), KUMIKI_OK);
        const int me = kumiki_rank(job);
        auto* table = static_cast<std::uint32_t*>(region);
        for (std::uint32_t round = 1; round <= 30; ++round) {
            const std::vector<std::uint32_t> mine(count, round * 10 + static_cast<std::uint32_t>(me));
            for (int rank = 0; rank < 4; ++rank)
                ASSERT_EQ(kumiki_put(job, rank, table + static_cast<std::size_t>(me) * count, mine.data(), count * 4),
                          KUMIKI_OK);
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            for (std::uint32_t rank = 0; rank < 4; ++rank)
                for (const std::size_t at : {std::size_t{0}, count / 2, count - 1})
                    ASSERT_EQ(table[rank * count + at], round * 10 + rank);
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        }
    });
}

/// The number of messages that all ranks together send in `rounds` barriers.
std::uint64_t messages_of_barriers(int ranks, int hosts, int rounds) {
    std::atomic<std::uint64_t> sent{0};
    run_ranks_as_threads({.ranks = ranks, .hosts = hosts}, [&](Rank& rank) {
        ASSERT_TRUE(rank.collectives.barrier());
        const std::uint64_t before = rank.fabric.network()->traffic().messages;
        for (int round = 0; round < rounds; ++round) ASSERT_TRUE(rank.collectives.barrier());
        sent += rank.fabric.network()->traffic().messages - before;
    });
    return sent;
}

// Between hosts log2(hosts) messages each; within a host at most one, to its leader; now and then a heartbeat.
TEST(NetworkTest, TheMessagesOfABarrierDependOnTheNumberOfHosts) {
    const Watchdog watchdog("counting messages");
    constexpr int rounds = 200;
    for (const int ranks : {2, 4, 8}) EXPECT_LE(messages_of_barriers(ranks, 2, rounds), 2u * 2 * rounds + 40) << ranks;
    EXPECT_LE(messages_of_barriers(8, 4, rounds), 4u * 3 * rounds + 80);
}

// Short puts wait for each other; any later operation on the same rank comes after them.
TEST(NetworkTest, ShortPutsTravelTogetherAndInOrder) {
    const Watchdog watchdog("a burst of puts");
    tests::run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        constexpr std::uint64_t words = 5000;
        void* region = nullptr;
        ASSERT_EQ(kumiki_allocate(job, (words + 1) * 8, &region), KUMIKI_OK);
        auto* table = static_cast<std::uint64_t*>(region);
        std::uint64_t* const signal = table + words;
        for (std::uint64_t round = 1; round <= 20; ++round) {
            if (kumiki_rank(job) == 0) {
                const std::uint64_t before = job->fabric->network()->traffic().messages;
                for (const std::uint64_t value : {std::uint64_t{0}, round}) // the later value wins
                    for (std::uint64_t i = 0; i < words; ++i) {
                        const std::uint64_t number = value * i;
                        ASSERT_EQ(kumiki_put(job, 1, table + i, &number, 8), KUMIKI_OK);
                    }
                EXPECT_LT(job->fabric->network()->traffic().messages - before, 2 * words / 100);
                std::uint64_t back = 0;
                if (round % 4 == 0) {
                    ASSERT_EQ(kumiki_get(job, 1, table + words - 1, &back, 8), KUMIKI_OK);
                } else if (round % 4 == 1) {
                    ASSERT_EQ(kumiki_fetch_add(job, 1, table + words - 1, 0, &back), KUMIKI_OK);
                } else {
                    back = round * (words - 1);
                }
                EXPECT_EQ(back, round * (words - 1));
                if (round % 2 == 0) {
                    ASSERT_EQ(kumiki_signal(job, 1, signal, KUMIKI_SIGNAL_SET, round), KUMIKI_OK);
                }
            } else if (round % 2 == 0) {
                ASSERT_EQ(kumiki_signal_wait(job, signal, KUMIKI_AT_LEAST, round, nullptr), KUMIKI_OK);
                for (std::uint64_t i = 0; i < words; ++i) ASSERT_EQ(table[i], round * i);
            }
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            if (kumiki_rank(job) == 1) {
                for (std::uint64_t i = 0; i < words; ++i) ASSERT_EQ(table[i], round * i);
            }
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        }
    });
}

TEST(NetworkTest, SlowIsNotDead) {
    const Watchdog watchdog("a rank that computes for long");
    run_ranks_as_threads({.ranks = 3, .hosts = 2, .timeout_s = 1}, [](Rank& rank) {
        if (rank.rank() == 0) tests::compute_for(2500ms);
        ASSERT_TRUE(rank.collectives.barrier());
    });
}

/// The connections of this process over TCP.
std::set<int> connected_sockets() {
    std::set<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = std::stoi(entry.path().filename());
        sockaddr_storage other{};
        socklen_t length = sizeof other;
        if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&other), &length) == 0 &&
            (other.ss_family == AF_INET || other.ss_family == AF_INET6))
            found.insert(descriptor);
    }
    return found;
}

/// Two hosts that still exchange heartbeats lose the connection between two of their other ranks.
void lose_a_connection() {
    std::set<int> before;
    run_ranks_as_threads({.ranks = 4, .hosts = 2, .timeout_s = 1}, [&](Rank& rank) {
        const int handler = rank.collectives.add_handler([](int, auto) {}).value();
        ASSERT_TRUE(rank.collectives.barrier());
        if (rank.rank() == 1) {
            before = connected_sockets();
            rank.fabric.messenger().send(3, handler, {});
            ASSERT_TRUE(rank.fabric.network()->flush());
        }
        std::this_thread::sleep_for(500ms);
        if (rank.rank() == 1)
            for (const int descriptor : connected_sockets())
                if (!before.contains(descriptor)) shutdown(descriptor, SHUT_RDWR);
        std::this_thread::sleep_for(20s);
    });
}

TEST(NetworkDeathTest, ABrokenConnectionEndsTheJob) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(lose_a_connection(), testing::ExitedWithCode(3),
                "the connection to rank [13] on host .* has been broken .* for 1 s .*messages were lost");
}

} // namespace
} // namespace kumiki::fabric
