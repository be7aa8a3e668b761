#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <kumiki/kumiki.hpp>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Releasing shared arrays while the ranks go on, with ranks that are threads of one process, over copies per rank and
// over several hosts; and mistakes after which all must be as before.
namespace kumiki::dsm {
namespace {

using tests::JobOptions;
using tests::Rank;
using tests::Watchdog;

class SharedReleaseTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(const JobOptions& options, Body body, std::uint64_t cache = 0, std::uint64_t heap = 0) {
        tests::run_with_copies(GetParam(), options, body, SharedProtocol::invalidate, cache, false, heap);
    }
};

/// A thread of the rank that takes and gives back a lock until its end, which brings all changes of its rank home.
class Locker {
public:
    Locker(SharedMemory& memory, int lock)
        : thread_([this, &locks = **memory.locks("test"), lock] {
              while (!ends_) {
                  ASSERT_TRUE(locks.acquire(lock));
                  ASSERT_TRUE(locks.release(lock));
              }
          }) {}
    ~Locker() {
        ends_ = true;
        thread_.join();
    }
    Locker(const Locker&) = delete;
    Locker& operator=(const Locker&) = delete;

private:
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

TEST_P(SharedReleaseTest, OtherThreadsReleaseWhatTheRankHasWrittenMeanwhile) {
    const Watchdog watchdog("releases beside threads that use locks");
    for (const int hosts : {1, 2, 3})
        for (const std::uint64_t cache : {std::uint64_t{0}, std::uint64_t{1} << 20})
            run(
                {.ranks = 3, .hosts = hosts},
                [](Rank& rank, SharedMemory& memory) {
                    constexpr std::size_t pages = 150;
                    constexpr int rounds = tests::sanitized ? 3 : 6;
                    const std::size_t page = platform::page_size();
                    auto* const stays = tests::allocate_shared<std::uint8_t>(memory, page);
                    {
                        const Locker locker(memory, rank.rank() % 2);
                        for (int round = 1; round <= rounds; ++round) {
                            auto* const goes = tests::allocate_shared<std::uint8_t>(memory, pages * page);
                            for (std::size_t at = 0; at < pages; ++at) {
                                auto& byte = goes[at * page + static_cast<std::size_t>(rank.rank())];
                                ASSERT_EQ(byte, 0) << "of an array that was released";
                                byte = 1;
                            }
                            ASSERT_TRUE(memory.release(goes));
                        }
                    }
                    if (rank.rank() == 2) stays[7] = 3;
                    ASSERT_TRUE(memory.barrier());
                    EXPECT_EQ(stays[7], 3);
                    ASSERT_TRUE(memory.barrier());
                },
                cache);
}

// Rank 1 reads a part of what rank 0 has in order, so the window behind it is under way when all release the array.
TEST_P(SharedReleaseTest, WhatAScanHasRequestedArrivesFirst) {
    testing::internal::CaptureStderr();
    run({.ranks = 2, .hosts = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 512;
        const std::size_t page = platform::page_size();
        for (int round = 0; round < 60; ++round) {
            auto* const array = tests::allocate_shared<std::uint8_t>(memory, 2 * pages * page);
            for (std::size_t at = 0; at < 40 && rank.rank() == 1; ++at) ASSERT_EQ(array[at * page], 0);
            ASSERT_TRUE(memory.release(array));
        }
    });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(SharedReleaseTest, DifferentArraysAreRefusedAndStay) {
    for (const int hosts : {1, 2})
        run({.ranks = 2, .hosts = hosts}, [](Rank& rank, SharedMemory& memory) {
            int* const one = tests::allocate_shared<int>(memory, 10);
            int* const other = tests::allocate_shared<int>(memory, 10);
            const auto differs = memory.release(rank.rank() == 0 ? one : other);
            ASSERT_FALSE(differs);
            EXPECT_NE(differs.error().message.find("to release different shared arrays"), std::string::npos)
                << differs.error().message;
            const auto refused = memory.release(rank.rank() == 0 ? one : one + 1);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().status, KUMIKI_ERROR_ARGUMENT) << refused.error().message;
            int* const third = tests::allocate_shared<int>(memory, 10);
            if (rank.rank() == 1) one[1] = 1, other[2] = 2, third[3] = 3;
            ASSERT_TRUE(memory.barrier());
            EXPECT_EQ(one[1] + other[2] + third[3], 6);
            for (int* const each : {one, third, other}) ASSERT_TRUE(memory.release(each));
        });
}

// Each has an old copy of what the other one writes.
TEST_P(SharedReleaseTest, ABarrierThatIsRefusedLosesNothing) {
    for (const int hosts : {1, 2})
        run({.ranks = 2, .hosts = hosts}, [](Rank& rank, SharedMemory& memory) {
            const std::size_t page = platform::page_size() / sizeof(int);
            volatile int* const array = tests::allocate_shared<int>(memory, 2 * page);
            const auto mine = static_cast<std::size_t>(rank.rank()), others = 1 - mine;
            for (int round = 1; round <= 10; ++round) {
                array[mine * page] = round;
                ASSERT_TRUE(rank.collectives.barrier_enter());
                EXPECT_FALSE(memory.barrier());
                ASSERT_TRUE(rank.collectives.barrier_wait());
                ASSERT_TRUE(memory.barrier());
                ASSERT_EQ(array[others * page], round);
                ASSERT_TRUE(memory.barrier());
            }
        });
}

TEST_P(SharedReleaseTest, HomesOfTheHeapStay) {
    run(
        {.ranks = 2},
        [](Rank&, SharedMemory& memory) {
            ASSERT_TRUE(memory.release(tests::allocate_shared<int>(memory, 1)));
            auto* const heap = *memory.heap("test");
            void* const block = *heap->allocate(platform::page_size());
            const auto opened = memory.open_homes(block, 1);
            ASSERT_FALSE(opened);
            EXPECT_EQ(opened.error().status, KUMIKI_ERROR_ARGUMENT) << opened.error().message;
        },
        0, std::uint64_t{4} << 20);
}

// More than the bits of a word.
TEST_P(SharedReleaseTest, ManyThreadsWaitForALockWhoseHolderWantsAnother) {
    const Watchdog watchdog("many waiting threads");
    for (const int hosts : {1, 2})
        run({.ranks = 2, .hosts = hosts}, [](Rank& rank, SharedMemory& memory) {
            constexpr int outer = 0, inner = 1; // of rank 0, and of rank 1
            static_cast<void>(tests::allocate_shared<int>(memory, 1));
            Locks& locks = **memory.locks("test");
            std::vector<std::thread> waiting;
            if (rank.rank() == 0) {
                ASSERT_TRUE(locks.acquire(outer));
                for (int thread = 0; thread < 150; ++thread)
                    waiting.emplace_back([&locks] {
                        ASSERT_TRUE(locks.acquire(outer));
                        ASSERT_TRUE(locks.release(outer));
                    });
            } else {
                ASSERT_TRUE(locks.acquire(inner));
            }
            ASSERT_TRUE(rank.collectives.barrier());
            std::this_thread::sleep_for(std::chrono::milliseconds(100)); // all wait
            if (rank.rank() == 0) {
                ASSERT_TRUE(locks.acquire(inner)); // rank 1 has it for a while yet
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            }
            ASSERT_TRUE(locks.release(inner));
            if (rank.rank() == 0) {
                ASSERT_TRUE(locks.release(outer));
            }
            for (auto& each : waiting) each.join();
            ASSERT_TRUE(rank.collectives.barrier());
        });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedReleaseTest, tests::every_mechanism, tests::mechanism_name);

// The child has no place in the job: it is not served, and what it does changes nothing for its parent.
TEST(SharedForkTest, AChildThatTouchesACopyEnds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer has its own report of such an access";
#endif
    for (const char* const faults : {"auto", "protection"})
        tests::run_programs({.ranks = 2}, [faults](int rank) {
            setenv("KUMIKI_SHARED_COPIES", "rank", 1);
            setenv("KUMIKI_SHARED_FAULTS", faults, 1);
            Job job;
            auto shared = job.share<int>(2 * platform::page_size());
            volatile int* const array = shared.data();
            if (rank == 0) array[0] = 1;
            job.shared_barrier();
            if (rank == 1) {
                const pid_t child = fork();
                if (child == 0) {
                    alarm(10); // a child that is served faults again and again
                    _exit(array[0]);
                }
                int status = 0;
                waitpid(child, &status, 0);
                EXPECT_TRUE(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS))
                    << status;
            }
            job.shared_barrier();
            if (rank == 0) array[0] = 42;
            job.shared_barrier();
            EXPECT_EQ(array[0], 42) << "rank " << rank << ", " << faults;
            job.shared_barrier();
        });
}

} // namespace
} // namespace kumiki::dsm
