// Puts and gets that the network carries out itself. UCX does so inside one machine by the system's calls for the
// memory of other processes (its transport cma), where two hosts of a test are two memories of this machine.
#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "face/job.hpp"
#include "kumiki/kumiki.h"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/rank_pair.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::fabric {
namespace {

using Direction = Transport::Direction;
using tests::Rank;
using tests::run_jobs_as_threads;
using tests::Watchdog;

constexpr const char* transports = "UCX_TLS";
constexpr const char* with_remote_memory = "tcp,sysv,cma";

class RemoteMemoryTest : public testing::Test {
protected:
    void SetUp() override {
        setenv(transports, with_remote_memory, 1);
        const auto why = reason();
        if (is_old(why)) GTEST_SKIP() << why << " (UCX 1.16 and newer do)";
    }
    void TearDown() override { unsetenv(transports); }

private:
    /// Why puts would not be direct, if they would not.
    static std::string reason() {
        std::string why;
        tests::run_ranks_as_threads({.ranks = 2, .hosts = 2}, [&](Rank& rank) {
            if (rank.rank() == 0) why = rank.fabric.network()->route(1, Direction::put).why;
        });
        return why;
    }
    /// UCX before 1.16 puts only by transports that can also send messages.
    static bool is_old(const std::string& why) {
        constexpr std::string_view name = "UCX 1.";
        const auto found = why.find(name);
        int minor = 99;
        if (found != why.npos) std::from_chars(why.data() + found + name.size(), why.data() + why.size(), minor);
        return minor < 16;
    }
};

std::vector<std::uint64_t> words(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint64_t> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = seed * 1'000'003 + i * 7;
    return made;
}

std::uint64_t* allocate(kumiki_job* job, std::size_t count) {
    void* region = nullptr;
    EXPECT_EQ(kumiki_allocate(job, count * 8, &region), KUMIKI_OK);
    return static_cast<std::uint64_t*>(region);
}

std::uint64_t direct(kumiki_job* job) { return job->fabric->network()->traffic().direct; }

TEST_F(RemoteMemoryTest, LongPutsAndGetsAreDirectAndArrive) {
    const Watchdog watchdog("direct puts and gets");
    run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        constexpr std::size_t room = 1 << 18;
        std::uint64_t* const region = allocate(job, room);
        const int other = 1 - kumiki_rank(job);
        std::uint64_t round = 0;
        for (const std::size_t count : {std::size_t{1025}, std::size_t{5000}, std::size_t{100'003}, room - 1}) {
            const auto mine = words(count, ++round * 2 + static_cast<std::uint64_t>(kumiki_rank(job)));
            const std::uint64_t before = direct(job);
            ASSERT_EQ(kumiki_put(job, other, region + 1, mine.data(), count * 8), KUMIKI_OK);
            ASSERT_EQ(direct(job), before + 1) << job->fabric->network()->route(other, Direction::put).why;
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            const auto theirs = words(count, round * 2 + static_cast<std::uint64_t>(other));
            ASSERT_TRUE(std::equal(theirs.begin(), theirs.end(), region + 1));
            std::vector<std::uint64_t> back(count);
            ASSERT_EQ(kumiki_get(job, other, region + 1, back.data(), count * 8), KUMIKI_OK);
            ASSERT_EQ(back, mine);
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        }
    });
}

// The order of put and signal, in both directions at once, also after puts and gets that do not wait.
TEST_F(RemoteMemoryTest, StressASignalFollowsTheData) {
    const Watchdog watchdog("signals after direct puts");
    run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        constexpr std::size_t most = 32 << 10;
        std::uint64_t* const region = allocate(job, most + 2);
        std::uint64_t *const arrived = region + most, *const read = region + most + 1;
        const int me = kumiki_rank(job), other = 1 - me;
        tests::Random random(7); // both ranks draw the same
        for (std::uint64_t round = 1; round <= 3000; ++round) {
            const auto count = random.between(std::size_t{1100}, most);
            const bool waits = random.once_in(2), apart = random.once_in(3);
            const std::vector<std::uint64_t> data(count, round * 2 + static_cast<std::uint64_t>(me));
            if (waits && !apart) {
                ASSERT_EQ(
                    kumiki_put_signal(job, other, region, data.data(), count * 8, arrived, KUMIKI_SIGNAL_SET, round),
                    KUMIKI_OK);
            } else {
                kumiki_request request = nullptr;
                if (waits) {
                    ASSERT_EQ(kumiki_put(job, other, region, data.data(), count * 8), KUMIKI_OK);
                } else {
                    ASSERT_EQ(kumiki_start_put(job, other, region, data.data(), count * 8, &request), KUMIKI_OK);
                    ASSERT_EQ(kumiki_wait(job, &request, nullptr), KUMIKI_OK);
                }
                ASSERT_EQ(kumiki_signal(job, other, arrived, KUMIKI_SIGNAL_SET, round), KUMIKI_OK);
            }
            ASSERT_EQ(kumiki_signal_wait(job, arrived, KUMIKI_AT_LEAST, round, nullptr), KUMIKI_OK);
            const std::uint64_t theirs = round * 2 + static_cast<std::uint64_t>(other);
            ASSERT_TRUE(std::all_of(region, region + count, [=](std::uint64_t seen) { return seen == theirs; }))
                << "round " << round << ", " << count << " words";
            ASSERT_EQ(kumiki_signal(job, other, read, KUMIKI_SIGNAL_SET, round), KUMIKI_OK);
            ASSERT_EQ(kumiki_signal_wait(job, read, KUMIKI_AT_LEAST, round, nullptr), KUMIKI_OK);
        }
        EXPECT_EQ(direct(job), 3000u);
    });
}

// A get sees what this rank has put before, whichever way either took.
TEST_F(RemoteMemoryTest, AGetFollowsThePutsBeforeIt) {
    const Watchdog watchdog("gets after puts");
    run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        constexpr std::size_t count = 8 << 10;
        std::uint64_t* const region = allocate(job, count);
        if (kumiki_rank(job) == 0) {
            std::vector<std::uint64_t> seen(count);
            for (std::uint64_t round = 1; round <= 200; ++round) {
                const std::size_t at = round * 31 % count;
                ASSERT_EQ(kumiki_put(job, 1, region + at, &round, 8), KUMIKI_OK); // a message
                const std::size_t length = round % 2 == 0 ? count : at + 1;
                ASSERT_EQ(kumiki_get(job, 1, region, seen.data(), length * 8), KUMIKI_OK);
                ASSERT_EQ(seen[at], round);
            }
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

// The same for signals, which are messages in any case.
TEST_F(RemoteMemoryTest, AGetFollowsTheSignalsBeforeIt) {
    const Watchdog watchdog("gets after signals");
    run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        constexpr std::size_t count = 2 << 10;
        std::uint64_t* const region = allocate(job, count);
        if (kumiki_rank(job) == 0) {
            std::vector<std::uint64_t> seen(count);
            for (std::uint64_t round = 1; round <= 200; ++round) {
                ASSERT_EQ(kumiki_signal(job, 1, region, KUMIKI_SIGNAL_SET, round), KUMIKI_OK);
                const std::size_t length = round % 2 == 0 ? count : 1;
                ASSERT_EQ(kumiki_get(job, 1, region, seen.data(), length * 8), KUMIKI_OK);
                ASSERT_EQ(seen[0], round);
            }
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

// A long put waits for the short ones before it, but neither for signals nor for what an answer has confirmed.
TEST_F(RemoteMemoryTest, APutAsksOnlyAboutDataThatItMightOvertake) {
    const Watchdog watchdog("messages of long puts");
    constexpr int no_heartbeat_meanwhile = 600; // seconds; it would be counted
    run_jobs_as_threads({.ranks = 2, .hosts = 2, .timeout_s = no_heartbeat_meanwhile}, [](kumiki_job* job) {
        constexpr std::size_t count = 4 << 10;
        std::uint64_t* const region = allocate(job, count + 1);
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        if (kumiki_rank(job) == 0) {
            const auto data = words(count, 1);
            const auto messages_of_a_put = [&] {
                const std::uint64_t before = job->fabric->network()->traffic().messages;
                EXPECT_EQ(kumiki_put(job, 1, region, data.data(), count * 8), KUMIKI_OK);
                return job->fabric->network()->traffic().messages - before;
            };
            messages_of_a_put(); // the key
            EXPECT_EQ(messages_of_a_put(), 0u);
            ASSERT_EQ(kumiki_signal(job, 1, region + count, KUMIKI_SIGNAL_SET, 1), KUMIKI_OK);
            EXPECT_EQ(messages_of_a_put(), 0u);
            ASSERT_EQ(kumiki_put(job, 1, region, data.data(), 8), KUMIKI_OK);
            EXPECT_EQ(messages_of_a_put(), 1u) << "a burst of the put that was held back and the question";
            ASSERT_EQ(kumiki_put(job, 1, region, data.data(), 8), KUMIKI_OK);
            std::uint64_t before = 0;
            ASSERT_EQ(kumiki_fetch_add(job, 1, region + count, 1, &before), KUMIKI_OK);
            EXPECT_EQ(messages_of_a_put(), 0u) << "the answer has confirmed the short put";
        }
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
}

// Another region at the same place has another key, for which its owner must be asked.
TEST_F(RemoteMemoryTest, AKeyEndsWithItsRegion) {
    const Watchdog watchdog("regions that come and go");
    run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        const int other = 1 - kumiki_rank(job);
        for (std::uint64_t round = 1; round <= 20; ++round) {
            const std::size_t count = 4000 + round % 3 * 30'000;
            std::uint64_t* const region = allocate(job, count);
            const std::vector<std::uint64_t> data(count, round);
            const auto before = job->fabric->network()->traffic();
            ASSERT_EQ(kumiki_put(job, other, region, data.data(), count * 8), KUMIKI_OK);
            const auto after = job->fabric->network()->traffic();
            ASSERT_EQ(after.direct, before.direct + 1);
            ASSERT_GT(after.messages, before.messages);
            ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
            ASSERT_TRUE(std::equal(data.begin(), data.end(), region));
            ASSERT_EQ(kumiki_release(job, region), KUMIKI_OK);
        }
    });
}

// A process that is stopped has no processor time at all, neither its program nor its agent.
TEST_F(RemoteMemoryTest, TheTargetTakesNoProcessorTime) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizers misread what UCX 1.18 asks of process_vm_readv between processes, and die";
#endif
    std::array<int, 2> to_writer{};
    ASSERT_EQ(pipe(to_writer.data()), 0);
    constexpr std::size_t bytes = std::size_t{64} << 20;
    tests::RankPair ranks;
    ranks.start(0, [&](Rank& rank) {
        auto* const region = static_cast<std::byte*>(rank.collectives.allocate(bytes).value());
        Network& network = *rank.fabric.network();
        const std::uint64_t offset = rank.fabric.memory().offset(region);
        pid_t target = 0;
        ASSERT_EQ(read(to_writer[0], &target, sizeof target), static_cast<ssize_t>(sizeof target));
        std::vector<std::byte> data(bytes), seen(bytes);
        for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 2654435761u >> 13);
        ASSERT_TRUE(network.put(1, offset, std::span(data).first(1 << 20), nullptr)); // the key
        ASSERT_TRUE(network.get(1, offset, std::span(seen).first(1 << 20)));
        ASSERT_EQ(network.traffic().direct, 2u);
        ASSERT_EQ(kill(target, SIGSTOP), 0);
        ASSERT_TRUE(network.put(1, offset, data, nullptr));
        ASSERT_TRUE(network.get(1, offset, seen));
        ASSERT_EQ(kill(target, SIGCONT), 0);
        ASSERT_EQ(network.traffic().direct, 4u);
        ASSERT_EQ(seen, data);
    });
    ranks.start(1, [&](Rank& rank) {
        ASSERT_TRUE(rank.collectives.allocate(bytes));
        const pid_t own = getpid();
        ASSERT_EQ(write(to_writer[1], &own, sizeof own), static_cast<ssize_t>(sizeof own));
    });
    const Watchdog watchdog("a target that is stopped");
    tests::expect_good_ends(ranks.processes());
    for (const int each : to_writer) close(each);
}

// -- where the network does not --

TEST(WithoutRemoteMemoryTest, MessagesCarryTheDataAndTheReasonIsTold) {
    const Watchdog watchdog("TCP alone");
    setenv(transports, "tcp", 1);
    run_jobs_as_threads({.ranks = 2, .hosts = 2}, [](kumiki_job* job) {
        std::uint64_t* const region = allocate(job, 1 << 16);
        const int other = 1 - kumiki_rank(job);
        const auto mine = words(1 << 16, static_cast<std::uint64_t>(kumiki_rank(job)));
        ASSERT_EQ(kumiki_put(job, other, region, mine.data(), mine.size() * 8), KUMIKI_OK);
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        const auto theirs = words(1 << 16, static_cast<std::uint64_t>(other));
        EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), region));
        EXPECT_EQ(direct(job), 0u);
        const auto route = job->fabric->network()->route(other, Direction::put);
        EXPECT_FALSE(route.is_direct);
        EXPECT_EQ(route.why, "UCX_TLS allows TCP only, which does not write remote memory itself");
    });
    unsetenv(transports);
}

} // namespace
} // namespace kumiki::fabric
