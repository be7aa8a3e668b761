#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/build.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// The protocol, with ranks that are threads of one process, over copies per rank and over two hosts.
namespace kumiki::dsm {
namespace {

using tests::JobOptions;
using tests::Rank;
using tests::Watchdog;

class SharedMemoryTest : public testing::TestWithParam<FaultMechanism> {
protected:
    template <class Body>
    void run(const JobOptions& options, Body body) {
        tests::run_with_copies(GetParam(), options, body);
    }
};

template <class T>
T* allocate(SharedMemory& memory, std::size_t count, Placement placement = Placement::block, std::size_t page = 0) {
    return tests::allocate_shared<T>(memory, count, placement, page);
}

TEST_P(SharedMemoryTest, BeginsWithZerosAndEveryoneSeesWhatAnyoneWrote) {
    const Watchdog watchdog("writes before a barrier");
    run({.ranks = 3}, [](Rank& rank, SharedMemory& memory) {
        constexpr int count = 10000;
        int* const array = allocate<int>(memory, count);
        for (int at = 0; at < count; ++at) ASSERT_EQ(array[at], 0);
        ASSERT_TRUE(memory.barrier());
        for (int round = 1; round <= 3; ++round) {
            for (int at = rank.rank(); at < count; at += rank.size()) array[at] = at * round;
            ASSERT_TRUE(memory.barrier());
            for (int at = 0; at < count; ++at) ASSERT_EQ(array[at], at * round) << "round " << round;
            ASSERT_TRUE(memory.barrier());
        }
        ASSERT_TRUE(memory.release(array));
    });
}

TEST_P(SharedMemoryTest, PagesOfTheHomeThatNobodyElseHoldsNeverFault) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 64;
        const std::size_t page = platform::page_size();
        auto* const bytes = allocate<std::uint8_t>(memory, pages * page);
        const std::size_t begin = static_cast<std::size_t>(rank.rank()) * pages / 2;
        for (int round = 0; round < 5; ++round) {
            for (std::size_t at = begin; at < begin + pages / 2; ++at) ++bytes[at * page];
            ASSERT_TRUE(memory.barrier());
        }
        const auto counters = memory.counters(nullptr).value();
        EXPECT_EQ(counters.faults, 0u);
        EXPECT_EQ(counters.notices, 0u);
        ASSERT_TRUE(memory.barrier());
    });
}

// A page that is only read is fetched once, however many barriers there are.
TEST_P(SharedMemoryTest, CopiesOfPagesThatNobodyWritesStay) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        const std::size_t page = platform::page_size();
        auto* const bytes = allocate<std::uint8_t>(memory, 8 * page);
        if (rank.rank() == 0) bytes[0] = 42;
        ASSERT_TRUE(memory.barrier());
        for (int round = 0; round < 10; ++round) {
            ASSERT_EQ(bytes[0], 42);
            ASSERT_TRUE(memory.barrier());
        }
        // Fetched once, perhaps announced once because the home does not know whether it wrote, and fetched again.
        if (rank.rank() == 1) {
            EXPECT_GE(memory.counters(nullptr)->fetches, 1u);
            EXPECT_LE(memory.counters(nullptr)->fetches, 2u);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

TEST_P(SharedMemoryTest, TheHomesWritesReachCopiesInEveryInterval) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        volatile int* const array = allocate<int>(memory, 4096);
        for (int round = 1; round <= 20; ++round) {
            if (rank.rank() == 0 && round % 3 != 0) array[5] = round;
            ASSERT_TRUE(memory.barrier());
            const int expected = round % 3 != 0 ? round : round - 1;
            if (round % 4 != 1) {
                ASSERT_EQ(array[5], expected) << "rank " << rank.rank();
            }
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Its copy stays valid, so every interval's first write must be noticed anew.
TEST_P(SharedMemoryTest, AWriterAwayFromTheHomeIsSeenInEveryInterval) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        volatile int* const array = allocate<int>(memory, 4096);
        for (int round = 1; round <= 20; ++round) {
            if (rank.rank() == 1) array[5] = round;
            ASSERT_TRUE(memory.barrier());
            ASSERT_EQ(array[5], round) << "rank " << rank.rank();
            ASSERT_TRUE(memory.barrier());
        }
    });
}

// Fewer faults than pages; and pages that came along are copies like any other.
TEST_P(SharedMemoryTest, AScanInOrderFetchesManyPagesAtAFault) {
    for (const bool ascends : {true, false})
        run({.ranks = 2}, [ascends](Rank& rank, SharedMemory& memory) {
            constexpr std::size_t pages = 512; // of rank 0, and as many of rank 1
            const std::size_t words = platform::page_size() / sizeof(std::uint64_t);
            auto* const array = allocate<std::uint64_t>(memory, 2 * pages * words);
            std::uint64_t faults = 0;
            for (std::uint64_t round = 1; round <= 5; ++round) {
                if (rank.rank() == 0)
                    for (std::size_t word = 0; word < pages * words; ++word) array[word] = round * word;
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 1) {
                    const auto before = memory.counters(nullptr).value();
                    for (std::size_t step = 0; step < pages * words; ++step) {
                        const std::size_t word = ascends ? step : pages * words - 1 - step;
                        ASSERT_EQ(array[word], round * word) << "round " << round;
                    }
                    const auto after = memory.counters(nullptr).value();
                    EXPECT_EQ(after.fetches - before.fetches, pages);
                    faults = after.faults - before.faults;
                    EXPECT_LT(faults, 32u); // windows that grow with the run
                }
                ASSERT_TRUE(memory.barrier());
            }
        });
}

// Between hosts the window behind the last one is under way when a scan stops. Rank 1 reads the first half of what rank
// 0 has, while rank 0 writes to the other half, and then reads that.
TEST_P(SharedMemoryTest, WhatAScanHasRequestedAheadIsAsNewAsAnyCopy) {
    for (const bool ascends : {true, false}) {
        std::atomic<std::uint64_t> scanned{0}; // by which round; tells nobody anything about the array
        run({.ranks = 2, .hosts = 2}, [&scanned, ascends](Rank& rank, SharedMemory& memory) {
            constexpr std::size_t pages = 256, half = pages / 2; // of rank 0
            constexpr int lock = 1;                              // of rank 1, so that it learns without a message
            const std::size_t words = platform::page_size() / sizeof(std::uint64_t);
            auto* const array = allocate<std::uint64_t>(memory, 2 * pages * words);
            Locks& locks = **memory.locks("test");
            const auto at = [&](std::size_t step) -> std::uint64_t& {
                return array[(ascends ? step : pages - 1 - step) * words];
            };
            const auto write = [&](std::size_t first, std::uint64_t round) {
                for (std::size_t step = first; step < pages; ++step) at(step) = round * step;
            };
            const auto check = [&](std::size_t first, std::size_t end, std::uint64_t round) {
                for (std::size_t step = first; step < end; ++step)
                    ASSERT_EQ(at(step), round * step) << "step " << step << ", round " << round;
            };
            const auto fetches = [&] { return memory.counters(nullptr)->fetches; };
            for (std::uint64_t round = 1; round <= 60; round += 3) {
                if (rank.rank() == 0) write(0, round);
                ASSERT_TRUE(memory.barrier());
                const std::uint64_t before = fetches();
                if (rank.rank() == 1) check(0, half, round);
                ASSERT_TRUE(memory.barrier()); // what has come stays
                if (rank.rank() == 1) {
                    const std::uint64_t requested = fetches() - before;
                    EXPECT_GT(requested, half);
                    EXPECT_LT(requested, half * 3 / 2);
                    check(0, pages, round);
                } else {
                    ASSERT_TRUE(locks.acquire(lock));
                }
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 0) {
                    write(0, round + 1);
                    ASSERT_TRUE(locks.release(lock));
                } else {
                    ASSERT_TRUE(locks.acquire(lock));
                    check(0, half, round + 1);
                    ASSERT_TRUE(locks.release(lock));
                }
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 0) {
                    ASSERT_TRUE(locks.acquire(lock));
                }
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 0) {
                    while (scanned.load() < round) std::this_thread::yield();
                    write(half, round + 2);
                    ASSERT_TRUE(locks.release(lock));
                } else {
                    const std::uint64_t already = fetches();
                    check(0, half, round + 1); // meanwhile
                    EXPECT_GT(fetches() - already, half);
                    scanned = round;
                    ASSERT_TRUE(locks.acquire(lock)); // drops what is under way
                    check(half, pages, round + 2);
                    ASSERT_TRUE(locks.release(lock));
                }
                ASSERT_TRUE(memory.barrier());
            }
        });
    }
}

// As a transposition does: rank 1 goes down the first halves of many rows of rank 0, which it reads and then writes.
TEST_P(SharedMemoryTest, RowsSideBySideAreFetchedAndWrittenAheadEachByItself) {
    for (const bool ascends : {true, false})
        run({.ranks = 2}, [ascends](Rank& rank, SharedMemory& memory) {
            constexpr std::size_t rows = 24, row = 128, used = 64; // pages
            const std::size_t words = platform::page_size() / sizeof(std::uint64_t);
            auto* const array = allocate<std::uint64_t>(memory, 2 * rows * row * words);
            for (std::uint64_t round = 1; round <= 3; ++round) {
                if (rank.rank() == 0)
                    for (std::size_t page = 0; page < rows * row; ++page) array[page * words] = round * page;
                ASSERT_TRUE(memory.barrier());
                const auto before = memory.counters(nullptr).value();
                for (std::size_t step = 0; step < used && rank.rank() == 1; ++step)
                    for (std::size_t page = ascends ? step : used - 1 - step; page < rows * row; page += row) {
                        ASSERT_EQ(array[page * words], round * page) << "round " << round;
                        array[page * words + 1] = round + page;
                    }
                ASSERT_TRUE(memory.barrier());
                if (rank.rank() == 1) {
                    const auto after = memory.counters(nullptr).value();
                    EXPECT_LT(after.faults - before.faults, rows * 2 * used / 5);
                    EXPECT_GE(after.fetches - before.fetches, rows * used);
                    EXPECT_LT(after.fetches - before.fetches, rows * used * 3 / 2);
                    EXPECT_EQ(after.differences - before.differences, rows * used) << "of pages that were written";
                }
                for (std::size_t page = 0; page < rows * row && rank.rank() == 0;
                     page += page % row + 1 < used ? 1 : row - used + 1)
                    ASSERT_EQ(array[page * words + 1], round + page) << "round " << round;
                ASSERT_TRUE(memory.barrier());
            }
        });
}

TEST_P(SharedMemoryTest, AScanThatWritesIsSeenAtTheHome) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 128;
        const std::size_t words = platform::page_size() / sizeof(std::uint64_t);
        auto* const array = allocate<std::uint64_t>(memory, 2 * pages * words);
        for (std::uint64_t round = 1; round <= 3; ++round) {
            if (rank.rank() == 1)
                for (std::size_t word = 0; word < pages * words; word += 3) array[word] += round;
            ASSERT_TRUE(memory.barrier());
            for (std::size_t word = 0; word < pages * words; ++word)
                ASSERT_EQ(array[word], word % 3 == 0 ? round * (round + 1) / 2 : 0);
            ASSERT_TRUE(memory.barrier());
        }
    });
}

TEST_P(SharedMemoryTest, ScatteredAccessesFetchNothingElse) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 256, stride = 37;
        const std::size_t page = platform::page_size();
        auto* const bytes = allocate<std::uint8_t>(memory, 2 * pages * page);
        if (rank.rank() == 1) {
            for (std::size_t turn = 0; turn < pages / 4; ++turn) ASSERT_EQ(bytes[turn * stride % pages * page], 0);
            EXPECT_EQ(memory.counters(nullptr)->fetches, pages / 4);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

TEST_P(SharedMemoryTest, ThreadsScanTheSamePagesAtTheSameMoment) {
    const Watchdog watchdog("threads that scan the same pages");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t threads = 4, pages = 128;
        const std::size_t words = platform::page_size() / sizeof(std::uint64_t);
        auto* const array = allocate<std::uint64_t>(memory, 2 * pages * words);
        for (std::uint64_t round = 1; round <= 10; ++round) {
            if (rank.rank() == 0)
                for (std::size_t word = 0; word < pages * words; ++word) array[word] = round * word;
            ASSERT_TRUE(memory.barrier());
            std::vector<std::thread> all;
            for (std::size_t thread = 0; rank.rank() == 1 && thread < threads; ++thread)
                all.emplace_back([=] { // some begin in the middle, and one writes where nobody reads
                    for (std::size_t word = thread * 7 * words + 1; word < pages * words; word += 2)
                        ASSERT_EQ(array[word], round * word);
                    if (thread == 0)
                        for (std::size_t word = 0; word < pages * words; word += 2) array[word] = round;
                });
            for (auto& each : all) each.join();
            ASSERT_TRUE(memory.barrier());
            for (std::size_t word = 0; word < pages * words; ++word)
                ASSERT_EQ(array[word], word % 2 == 0 ? round : round * word);
            ASSERT_TRUE(memory.barrier());
        }
    });
}

TEST_P(SharedMemoryTest, ThreadsFaultOnTheSamePageAtTheSameMoment) {
    const Watchdog watchdog("threads that fault on one page");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t threads = 4, pages = 16;
        const std::size_t words = platform::page_size() / sizeof(std::uint32_t);
        auto* const array = allocate<std::uint32_t>(memory, pages * words, Placement::cyclic);
        for (std::uint32_t round = 1; round <= 20; ++round) {
            std::barrier meeting(threads);
            std::vector<std::thread> team;
            for (std::size_t thread = 0; thread < threads; ++thread)
                team.emplace_back([&, thread] {
                    for (std::size_t page = 0; page < pages; ++page) {
                        meeting.arrive_and_wait();
                        array[page * words + thread * 2 + static_cast<std::size_t>(rank.rank())] = round;
                    }
                });
            for (auto& thread : team) thread.join();
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = 0; page < pages; ++page)
                for (std::size_t word = 0; word < threads * 2; ++word)
                    ASSERT_EQ(array[page * words + word], round) << "page " << page << " word " << word;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

TEST_P(SharedMemoryTest, ThreadsFaultOnTheSamePageAndOnDifferentOnes) {
    const Watchdog watchdog("threads that fault at once");
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        constexpr int threads = 4, rounds = 10;
        constexpr std::size_t pages = 32;
        const std::size_t words = platform::page_size() / sizeof(std::uint32_t);
        auto* const array = allocate<std::uint32_t>(memory, pages * words, Placement::cyclic);
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            std::vector<std::thread> team;
            for (std::size_t thread = 0; thread < threads; ++thread)
                team.emplace_back([&, thread] {
                    // All threads of all ranks write to every page, each its own word.
                    const std::size_t own = thread * 2 + static_cast<std::size_t>(rank.rank());
                    for (std::size_t page = 0; page < pages; ++page) {
                        std::uint32_t& word = array[(page + thread) % pages * words + own];
                        EXPECT_EQ(word, round - 1);
                        word = round;
                    }
                });
            for (auto& thread : team) thread.join();
            ASSERT_TRUE(memory.barrier());
            for (std::size_t page = 0; page < pages; ++page)
                for (std::size_t word = 0; word < threads * 2; ++word)
                    ASSERT_EQ(array[page * words + word], round) << "page " << page << " word " << word;
            ASSERT_TRUE(memory.barrier());
        }
    });
}

/// One random program without data races: in each interval every byte has at most one writer, and no reader beside it.
/// The ranks that write are dealt byte by byte, so neighbours differ.
void run_random_program(Rank& rank, SharedMemory& memory, unsigned seed) {
    std::mt19937 engine(seed); // the same at every rank
    const auto random = [&engine] { return static_cast<unsigned>(engine()); };
    const std::size_t page = platform::page_size() << random() % 3;
    const std::size_t bytes = 1 + random() % (20 * page);
    const auto placement = tests::every_placement[random() % std::size(tests::every_placement)];
    auto* const array = allocate<std::uint8_t>(memory, bytes, placement, page);
    ASSERT_TRUE(memory.set_protocol(array, tests::every_protocol[random() % 2]));
    std::vector<std::uint8_t> expected(bytes);
    const auto ranks = static_cast<unsigned>(rank.size());
    for (int interval = 0; interval < 12; ++interval) {
        if (random() % 8 == 0) {
            ASSERT_TRUE(memory.set_protocol(array, tests::every_protocol[random() % 2]));
        }
        const std::size_t begin = random() % bytes, end = begin + random() % (bytes - begin + 1);
        const unsigned stride = 1 + random() % 40, deal = random(), silent = random() % (ranks + 1);
        for (std::size_t at = begin; at < end; at += stride) {
            const auto writer = (static_cast<unsigned>(at * 7) + deal) % ranks;
            if (writer == silent) continue;
            const auto value = static_cast<std::uint8_t>(random());
            if (static_cast<int>(writer) == rank.rank()) array[at] = value;
            expected[at] = value;
        }
        if (random() % 4 == 0 && placement != Placement::managed) {
            ASSERT_TRUE(memory.open_homes(array + begin, random() % 2));
        } else {
            ASSERT_TRUE(memory.barrier());
        }
        // Sometimes everybody reads much, sometimes some read a little, so that copies of all ages are about.
        const std::size_t look = random() % 3 == 0 ? 1 : 1 + random() % 5000;
        const bool reads = random() % ranks != static_cast<unsigned>(rank.rank());
        for (std::size_t at = 0; at < bytes && reads; at += look)
            ASSERT_EQ(array[at], expected[at]) << "seed " << seed << " interval " << interval << " byte " << at;
        ASSERT_TRUE(memory.barrier());
    }
    ASSERT_TRUE(memory.release(array));
}

TEST_P(SharedMemoryTest, RandomProgramsAgreeWithASequentialRun) {
    const Watchdog watchdog("random programs");
    for (const int ranks : {2, 3}) {
        const unsigned first = std::random_device{}();
        run({.ranks = ranks}, [&](Rank& rank, SharedMemory& memory) {
            for (unsigned program = 0; program < tests::programs(40); ++program)
                run_random_program(rank, memory, first + program);
        });
    }
}

TEST_P(SharedMemoryTest, WrongArgumentsAreRefusedAtAllRanks) {
    run({.ranks = 2}, [](Rank& rank, SharedMemory& memory) {
        EXPECT_EQ(memory.allocate(0, 0, Placement::block).error().status, KUMIKI_ERROR_ARGUMENT);
        EXPECT_EQ(memory.allocate(100, 5000, Placement::block).error().status, KUMIKI_ERROR_ARGUMENT);
        EXPECT_EQ(memory.allocate(100, 128 << 10, Placement::block).error().status, KUMIKI_ERROR_ARGUMENT);
        const std::size_t differs = platform::page_size() << rank.rank();
        const auto refused = memory.allocate(differs * 4, differs, Placement::block);
        EXPECT_FALSE(refused);
        const auto same = memory.allocate(100, 0, rank.rank() == 0 ? Placement::block : Placement::cyclic);
        ASSERT_FALSE(same);
        EXPECT_NE(same.error().message.find("different homes"), std::string::npos) << same.error().message;
        EXPECT_EQ(memory.home(&memory).error().status, KUMIKI_ERROR_ARGUMENT);
        // All is well afterwards.
        int* const array = allocate<int>(memory, 10);
        if (rank.rank() == 1) array[3] = 4;
        ASSERT_TRUE(memory.barrier());
        EXPECT_EQ(array[3], 4);
        EXPECT_EQ(memory.home(array).value(), 0);
    });
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedMemoryTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
