#include <atomic>
#include <gtest/gtest.h>
#include <kumiki/kumiki.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Locks of shared arrays. First with ranks that are threads of one process, over copies per rank and over two hosts;
// then as programs use them.
namespace kumiki::dsm {
namespace {

using tests::JobOptions;
using tests::Lock;
using tests::Rank;
using tests::Watchdog;

class SharedLockTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(const JobOptions& options, Body body) {
        tests::run_with_copies(GetParam(), options, body);
    }
};

template <class T>
volatile T* allocate(SharedMemory& memory, std::size_t count, Placement placement = Placement::block,
                     std::size_t page = 0) {
    return tests::allocate_shared<T>(memory, count, placement, page);
}

TEST_P(SharedLockTest, CountersUnderLocksLoseNothing) {
    const Watchdog watchdog("counters under locks");
    for (const int threads : {1, 3})
        run({.ranks = 3}, [threads](Rank& rank, SharedMemory& memory) {
            constexpr int locks = 5, rounds = 30;
            auto* const counters = allocate<std::uint64_t>(memory, 4096);
            ASSERT_TRUE(memory.barrier());
            std::vector<std::thread> team;
            for (int thread = 0; thread < threads; ++thread)
                team.emplace_back([&, thread] {
                    for (int round = 0; round < rounds; ++round) {
                        const int which = (round + thread) % locks;
                        Lock lock{memory, which};
                        const std::lock_guard guard(lock);
                        // Those of two locks are in one page.
                        counters[which * 300] = counters[which * 300] + 1;
                    }
                });
            for (auto& each : team) each.join();
            ASSERT_TRUE(memory.barrier());
            std::uint64_t sum = 0;
            for (int which = 0; which < locks; ++which) sum += counters[which * 300];
            EXPECT_EQ(sum, static_cast<std::uint64_t>(rounds * threads * rank.size()));
            ASSERT_TRUE(memory.barrier());
        });
}

// A releases lock 0; B takes it, and releases lock 1; C takes that, and must see what A wrote. All ranks have had old
// copies of the page, and the locks have different managers.
TEST_P(SharedLockTest, ChainsOfLocksAreCumulative) {
    const Watchdog watchdog("chains of locks");
    run({.ranks = 3}, [](Rank& rank, SharedMemory& memory) {
        auto* const data = allocate<int>(memory, 5000, Placement::cyclic);
        auto* const flags = allocate<int>(memory, 5000, Placement::cyclic);
        for (int round = 1; round <= 40; ++round) {
            const int first = round % 3;
            const int place = (rank.rank() - first + 3) % 3; // A, B or C
            static_cast<void>(data[17]);
            ASSERT_TRUE(memory.barrier());
            if (place == 0) {
                data[17] = round;
                Lock lock{memory, round % 7};
                const std::lock_guard guard(lock);
                flags[0] = round;
            } else {
                const int before = place - 1;
                for (bool came = false; !came;) {
                    Lock lock{memory, round % 7 + before};
                    const std::lock_guard guard(lock);
                    came = flags[before * 1500] == round;
                }
                ASSERT_EQ(data[17], round) << "place " << place;
                if (place == 1) {
                    Lock lock{memory, round % 7 + 1};
                    const std::lock_guard guard(lock);
                    flags[1500] = round;
                }
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// A home releases what nobody else has; and then what the other rank reads again and again, whose copies must go. Some
// pages have their home from the beginning, and others none before the first barrier, where rank 0 stands in.
TEST_P(SharedLockTest, PagesOfTheHomeThatNobodyFetchesDoNotFaultAfterEachRelease) {
    const Watchdog watchdog("a home's releases");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr int alone = 100, together = 200;
        constexpr std::size_t pages = 3;
        const std::size_t words = platform::page_size() / sizeof(int);
        for (const auto placement :
             {Placement::first_rank, Placement::first, Placement::managed, Placement::relocated}) {
            auto* const data = allocate<int>(memory, 2 * pages * words, placement); // half of it stands at rank 0
            Lock lock{memory, 0};
            const auto write = [&](int round) {
                const std::lock_guard guard(lock);
                for (std::size_t page = 0; page < pages; ++page) data[page * words] = round;
            };
            const std::uint64_t before = memory.counters(nullptr)->faults;
            for (int round = 1; round <= alone && rank.rank() == 0; ++round) write(round);
            EXPECT_LE(memory.counters(nullptr)->faults - before, 3 * pages) << "the first writes, or after a release";
            ASSERT_TRUE(memory.barrier());
            for (int round = alone + 1; round <= together && rank.rank() == 0; ++round) write(round);
            for (int last = alone; rank.rank() == 1 && last < together;) {
                const std::lock_guard guard(lock);
                const int found = data[0];
                ASSERT_GE(found, last);
                for (std::size_t page = 1; page < pages; ++page) ASSERT_EQ(data[page * words], found) << page;
                last = found;
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Message passing, with the home as writer, as reader, and elsewhere; the data are not touched under the lock.
TEST_P(SharedLockTest, MessagePassing) {
    const Watchdog watchdog("message passing under locks");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        for (const auto placement : tests::every_placement) {
            constexpr std::size_t pages = 6;
            const std::size_t words = platform::page_size() / sizeof(int);
            auto* const data = allocate<int>(memory, pages * words, placement);
            auto* const flag = allocate<int>(memory, 10);
            for (int round = 1; round <= 30; ++round) {
                if (rank.rank() == round % 2) {
                    for (std::size_t page = 0; page < pages; ++page) data[page * words + 3] = round;
                    Lock lock{memory, round % 3};
                    const std::lock_guard guard(lock);
                    *flag = round;
                } else {
                    for (bool came = false; !came;) {
                        Lock lock{memory, round % 3};
                        const std::lock_guard guard(lock);
                        came = *flag == round;
                    }
                    for (std::size_t page = 0; page < pages; ++page)
                        ASSERT_EQ(data[page * words + 3], round) << "page " << page;
                }
                if (round % 5 == 0) {
                    ASSERT_TRUE(memory.barrier());
                } else { // the answer comes by another lock
                    Lock lock{memory, 100};
                    for (bool came = false; !came;) {
                        const std::lock_guard guard(lock);
                        if (rank.rank() != round % 2) flag[5] = round;
                        came = flag[5] == round;
                    }
                }
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Each of two ranks writes its word and then reads the other's: at least one sees the other's write.
TEST_P(SharedLockTest, StoreBufferingUnderOneLock) {
    const Watchdog watchdog("store buffering under a lock");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        const std::size_t words = platform::page_size() / sizeof(int);
        auto* const array = allocate<int>(memory, 4 * words);
        const auto mine = static_cast<std::size_t>(rank.rank());
        for (int round = 1; round <= 60; ++round) {
            Lock lock{memory, 3};
            {
                const std::lock_guard guard(lock);
                array[mine * words] = round;
            }
            int other = 0;
            {
                const std::lock_guard guard(lock);
                other = array[(1 - mine) * words];
            }
            array[(2 + mine) * words] = other;
            ASSERT_TRUE(memory.barrier());
            ASSERT_TRUE(array[2 * words] == round || array[3 * words] == round) << "round " << round;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Threads of all ranks write bytes that lie side by side, each under its own lock, while others of their rank release.
TEST_P(SharedLockTest, NeighbouringBytesUnderDifferentLocks) {
    const Watchdog watchdog("neighbouring bytes under different locks");
    run({.ranks = 3}, [](Rank& rank, SharedMemory& memory) {
        constexpr int threads = 2, rounds = 50;
        auto* const bytes = allocate<std::uint8_t>(memory, 3 * platform::page_size(), Placement::cyclic);
        std::vector<std::thread> team;
        for (int thread = 0; thread < threads; ++thread)
            team.emplace_back([&, thread] {
                for (int round = 1; round <= rounds; ++round) {
                    // Every byte has one lock, and is written by one thread of each rank in turn.
                    const int which = (rank.rank() + thread * 3 + round) % 6;
                    Lock lock{memory, which};
                    const std::lock_guard guard(lock);
                    for (std::size_t page = 0; page < 3; ++page) {
                        auto& byte = bytes[page * platform::page_size() + static_cast<std::size_t>(which)];
                        byte = static_cast<std::uint8_t>(byte + 1);
                    }
                }
            });
        for (auto& each : team) each.join();
        ASSERT_TRUE(memory.barrier());
        for (std::size_t page = 0; page < 3; ++page) {
            int sum = 0;
            for (std::size_t which = 0; which < 6; ++which) sum += bytes[page * platform::page_size() + which];
            EXPECT_EQ(sum, rounds * threads * rank.size()) << "page " << page;
        }
        ASSERT_TRUE(memory.barrier());
    });
}

// While a thread writes to a page without any lock, another thread of its rank takes locks after ranks that write
// beside it, so that the rank must drop a copy with changes of its own.
TEST_P(SharedLockTest, ACopyWithUnreleasedChangesLosesNone) {
    const Watchdog watchdog("copies that are dropped with changes");
    run({.ranks = 3}, [](Rank& rank, SharedMemory& memory) {
        constexpr int rounds = 40;
        constexpr std::size_t own = 100;
        auto* const words = allocate<std::uint32_t>(memory, 8 * 1024, Placement::cyclic);
        const auto begin = static_cast<std::size_t>(rank.rank()) * own;
        std::atomic<bool> stop{false};
        std::uint32_t last = 0;
        std::thread writer([&] {
            for (std::uint32_t value = 1; !stop.load() || value < 10; ++value) {
                for (std::size_t page = 0; page < 8; ++page) {
                    auto* const mine = words + page * 1024 + begin;
                    for (std::size_t at = 0; at < own; ++at) {
                        EXPECT_EQ(mine[at], value - 1);
                        mine[at] = value;
                    }
                }
                last = value;
            }
        });
        for (int round = 0; round < rounds; ++round) {
            Lock lock{memory, round % 4};
            const std::lock_guard guard(lock);
            auto& counter = words[static_cast<std::size_t>(round % 4) * 1024 + 1000];
            counter = counter + 1;
        }
        stop.store(true);
        writer.join();
        ASSERT_TRUE(memory.barrier());
        for (std::size_t which = 0; which < 4; ++which)
            EXPECT_EQ(words[which * 1024 + 1000], static_cast<std::uint32_t>(rounds / 4 * rank.size()));
        for (std::size_t page = 0; page < 8; ++page)
            for (std::size_t at = 0; at < own; ++at) ASSERT_EQ(words[page * 1024 + begin + at], last);
        ASSERT_TRUE(memory.barrier());
    });
}

// More notices than a log holds: a rank that has been away for long drops everything, and so do those after it.
TEST_P(SharedLockTest, ARankThatWasAwayForLongSeesEverything) {
    const Watchdog watchdog("a rank that was away for long");
    run({.ranks = 3}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 1100; // every second one, so that they do not make one run
        const std::size_t page = platform::page_size();
        auto* const bytes = allocate<std::uint8_t>(memory, 2 * pages * page, Placement::cyclic);
        auto* const flag = allocate<int>(memory, 1);
        for (std::size_t at = 0; at < pages; ++at) ASSERT_EQ(bytes[2 * at * page], 0);
        ASSERT_TRUE(memory.barrier());
        const auto take_turns = [&](int turn, int lock_number, auto&& body) {
            for (bool done = false; !done;) {
                Lock lock{memory, lock_number};
                const std::lock_guard guard(lock);
                if (*flag != turn) continue;
                body();
                *flag = turn + 1;
                done = true;
            }
        };
        for (int half = 0; half < 3; ++half)
            if (rank.rank() == 0)
                take_turns(half, 0, [&] {
                    for (std::size_t at = 0; at < pages; ++at)
                        bytes[2 * at * page] = static_cast<std::uint8_t>(half + 1);
                });
        if (rank.rank() == 1) {
            take_turns(3, 0, [&] {
                for (std::size_t at = 0; at < pages; ++at) ASSERT_EQ(bytes[2 * at * page], 3);
            });
            Lock lock{memory, 1};
            const std::lock_guard guard(lock); // passes on to the other manager what it has learned
        }
        if (rank.rank() == 2) {
            take_turns(4, 0, [] {});
            for (std::size_t at = 0; at < pages; ++at) ASSERT_EQ(bytes[2 * at * page], 3);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

TEST_P(SharedLockTest, TryingDoesNotWait) {
    const Watchdog watchdog("trying to take locks");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        auto* const array = allocate<int>(memory, 10);
        Locks& locks = **memory.locks("test");
        for (const int lock : {0, 1}) {
            if (rank.rank() == 0) {
                ASSERT_TRUE(locks.try_acquire(lock).value());
            }
            if (rank.rank() == 0) array[0] = lock + 1;
            ASSERT_TRUE(rank.collectives.barrier());
            if (rank.rank() == 1) {
                EXPECT_FALSE(locks.try_acquire(lock).value());
            }
            ASSERT_TRUE(rank.collectives.barrier());
            if (rank.rank() == 0) {
                ASSERT_TRUE(locks.release(lock));
            }
            ASSERT_TRUE(rank.collectives.barrier());
            if (rank.rank() == 1) {
                while (!locks.try_acquire(lock).value()) {} // a release over the network may be under way
                EXPECT_EQ(array[0], lock + 1);
                ASSERT_TRUE(locks.release(lock));
            }
            ASSERT_TRUE(rank.collectives.barrier());
        }
    });
}

TEST_P(SharedLockTest, MistakesAreNamed) {
    const Watchdog watchdog("mistakes with locks");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        const auto early = memory.locks("shared_lock");
        ASSERT_FALSE(early);
        EXPECT_NE(early.error().message.find("before the first shared array"), std::string::npos);
        allocate<int>(memory, 10);
        Locks& locks = **memory.locks("shared_lock");
        const auto refused = [](const Result<>& result, kumiki_status status, const char* words) {
            ASSERT_FALSE(result);
            EXPECT_EQ(result.error().status, status);
            EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
        };
        refused(locks.acquire(-1), KUMIKI_ERROR_ARGUMENT, "there is no lock -1");
        refused(locks.acquire(KUMIKI_SHARED_LOCKS), KUMIKI_ERROR_ARGUMENT, "0 to 16383");
        refused(locks.release(7), KUMIKI_ERROR_STATE, "this rank does not have lock 7");
        const int mine = 10 + 3 * rank.rank(); // of both managers
        ASSERT_TRUE(locks.acquire(mine));
        refused(locks.acquire(mine), KUMIKI_ERROR_STATE, "has lock");
        EXPECT_FALSE(locks.try_acquire(mine).value());
        refused(locks.all_released(), KUMIKI_ERROR_STATE, "release it first");
        std::thread([&] { refused(locks.release(mine), KUMIKI_ERROR_STATE, "another thread"); }).join();
        ASSERT_TRUE(locks.release(mine));
        EXPECT_TRUE(locks.all_released());
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedLockTest, tests::every_mechanism, tests::mechanism_name);

// -- as programs use them --

TEST(SharedLockProgramTest, ThreadsOfAllRanksTakeTurns) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer does not see that a lock comes from another thread by way of another process";
#endif
    for (const char* const copies : {"host", "rank"})
        tests::run_programs({.ranks = 3}, [copies](int) {
            setenv("KUMIKI_SHARED_COPIES", copies, 1);
            Job job;
            auto array = job.share<std::uint64_t>(1000);
            auto add = [&] {
                SharedLock lock = job.shared_lock(5);
                for (int round = 0; round < 200; ++round) {
                    const std::lock_guard guard(lock);
                    ++array[7];
                }
            };
            std::thread other(add);
            add();
            other.join();
            job.shared_barrier();
            EXPECT_EQ(array[7], 3u * 2 * 200) << copies;
            job.shared_barrier();
        });
}

TEST(SharedLockProgramTest, LeavingWithALockIsRefused) {
    tests::run_programs({.ranks = 1}, [](int) {
        kumiki_job* job = nullptr;
        void* array = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK);
        ASSERT_EQ(kumiki_shared_allocate(job, 100, 0, KUMIKI_HOMES_BLOCK, &array), KUMIKI_OK);
        ASSERT_EQ(kumiki_shared_lock(job, 3), KUMIKI_OK);
        tests::expect_error(kumiki_leave(job), KUMIKI_ERROR_STATE, {"shared lock 3", "release it first"});
        tests::expect_error(kumiki_shared_trylock(job, 4, nullptr), KUMIKI_ERROR_ARGUMENT, {"null"});
        ASSERT_EQ(kumiki_shared_unlock(job, 3), KUMIKI_OK);
        ASSERT_EQ(kumiki_leave(job), KUMIKI_OK);
    });
}

} // namespace
} // namespace kumiki::dsm
