#include <algorithm>
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

#include "support/build.hpp"
#include "support/random.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Pages that are fetched, and made writable, before the program faults there: programs whose intervals repeat, do not
// repeat, and nearly repeat, over copies per rank and over two hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

constexpr std::size_t words = 4096 / sizeof(std::uint32_t);

class SharedPrefetchTest : public testing::TestWithParam<FaultMechanism> {
protected:
    /// On one host and on two.
    template <class Body>
    void run(int ranks, Body body) {
        for (const int hosts : {1, 2}) tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = hosts}, body);
    }
};

template <class T>
volatile T* allocate(SharedMemory& memory, std::size_t count, Placement placement = Placement::block) {
    return tests::allocate_shared<T>(memory, count, placement);
}

Result<> barrier(SharedMemory& memory, std::uint64_t place) {
    auto met = memory.barrier();
    memory.begin_interval(place);
    return met;
}

// Each rank writes its own pages and those next to them, and reads the other one's, as a stencil does. Of the 100
// rounds six learn (after 1, 4, 8, 16 and 32 others).
TEST_P(SharedPrefetchTest, IntervalsThatRepeatHardlyFault) {
    const Watchdog watchdog("intervals that repeat");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 12; // of each rank
        constexpr std::uint32_t rounds = 100, learning = 6;
        auto* const array = allocate<std::uint32_t>(memory, 2 * pages * words);
        const auto me = static_cast<std::size_t>(rank.rank());
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            for (std::size_t page = 0; page < 2 * pages; page += 2) array[page * words + me] = round;
            ASSERT_TRUE(barrier(memory, 1));
            for (std::size_t page = 0; page < 2 * pages; page += 2)
                for (std::size_t word = 0; word < 2; ++word) ASSERT_EQ(array[page * words + word], round);
            ASSERT_TRUE(barrier(memory, 2));
        }
        const auto counters = memory.counters(nullptr).value();
        EXPECT_LE(counters.faults, learning * 2 * 2 * pages); // of each page a read and a write
        EXPECT_GE(counters.fetches, (rounds - 1) * pages / 2) << "what is expected is fetched as before";
        EXPECT_LE(counters.fetches, (rounds + 1) * pages / 2) << "once a round, and once more at the beginning";
    });
}

// Rank 1 does not always read what it will probably need, so copies stay that have come and not been accessed. Homes
// that never fault tell small changes with the barrier, and they must reach these copies, too.
TEST_P(SharedPrefetchTest, SmallChangesReachCopiesThatWereNotAccessed) {
    const Watchdog watchdog("small changes of copies that were not accessed");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 3;
        const auto allocated = memory.allocate_open(pages * 4096, Placement::first_rank, explain::Use::heap);
        ASSERT_TRUE(allocated);
        auto* const array = static_cast<std::uint32_t*>(*allocated);
        const auto check = [&](std::uint32_t expected) {
            for (std::size_t page = 0; page < pages; ++page) ASSERT_EQ(array[page * words], expected) << page;
        };
        std::mt19937 engine(11); // the same at every rank
        for (std::uint32_t round = 1; round <= 200; ++round) {
            if (rank.rank() == 0) std::fill_n(array, pages * words, 2 * round); // too much to be told
            ASSERT_TRUE(barrier(memory, 1));
            const bool reads = engine() % 4 != 0;
            if (rank.rank() == 1 && reads) check(2 * round);
            ASSERT_TRUE(barrier(memory, 2));
            for (std::size_t page = 0; page < pages && rank.rank() == 0; ++page) array[page * words] = 2 * round + 1;
            ASSERT_TRUE(barrier(memory, 3));
            if (rank.rank() == 1) check(2 * round + 1);
            ASSERT_TRUE(barrier(memory, 4));
        }
    });
}

// Short runs of pages come together, in as few messages as hold them; long ones alone; and so do pages that fill a
// message.
TEST_P(SharedPrefetchTest, RunsOfAllLengthsAreFetchedInAdvance) {
    const Watchdog watchdog("runs of all lengths");
    run(3, [](Rank& rank, SharedMemory& memory) {
        for (const std::size_t length : {std::size_t{4096}, std::size_t{65536}}) {
            const std::size_t pages = length == 4096 ? 300 : 40, step = length / sizeof(std::uint32_t);
            constexpr std::uint32_t rounds = 12, learning = 3;
            auto* const array =
                tests::allocate_shared<std::uint32_t>(memory, pages * step, Placement::first_rank, length);
            std::uint64_t faults = 0;
            for (std::uint32_t round = 1; round <= rounds; ++round) {
                std::size_t needed = 0;
                const auto for_each_page = [&](auto each) { // runs of 1, 2, 3 ... pages, and a page between two of them
                    for (std::size_t page = 0, run = 1; page < pages; page += ++run)
                        for (std::size_t at = page; at < std::min(page + run, pages); ++at, ++needed) each(at);
                };
                const auto value_of = [round](std::size_t page) { return round + static_cast<std::uint32_t>(page); };
                if (rank.rank() == 0)
                    for_each_page([&](std::size_t page) { array[page * step + round] = value_of(page); });
                const std::uint64_t fetched = memory.counters(nullptr)->fetches;
                ASSERT_TRUE(barrier(memory, 1));
                const std::uint64_t ahead = memory.counters(nullptr)->fetches - fetched;
                const std::uint64_t before = memory.counters(nullptr)->faults;
                if (rank.rank() != 0)
                    for_each_page([&](std::size_t page) {
                        ASSERT_EQ(array[page * step + round], value_of(page)) << "page " << page << ", round " << round;
                    });
                if (rank.rank() != 0 && round > 1) { // pages that came along in a window may not have been learned
                    EXPECT_GE(ahead, needed * 3 / 4) << "round " << round << ", whether it learns or not";
                }
                faults += memory.counters(nullptr)->faults - before;
                ASSERT_TRUE(barrier(memory, 2));
                if (round == rounds && rank.rank() != 0) {
                    EXPECT_LE(faults, learning * needed);
                }
            }
            ASSERT_TRUE(memory.release(array));
        }
    });
}

TEST_P(SharedPrefetchTest, IntervalsThatDifferFetchHardlyAnythingInVain) {
    const Watchdog watchdog("intervals that differ");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 64;
        auto* const array = allocate<std::uint32_t>(memory, pages * words, Placement::cyclic);
        std::mt19937 engine(7); // the same at every rank
        std::uint64_t needed = 0;
        for (std::uint32_t round = 1; round <= 100; ++round) {
            const std::size_t page = engine() % pages;
            const bool home = page % 2 == static_cast<std::size_t>(rank.rank());
            if (home) array[page * words] = round;
            ASSERT_TRUE(barrier(memory, 1));
            ASSERT_EQ(array[page * words], round);
            if (!home) ++needed;
            ASSERT_TRUE(barrier(memory, 2));
        }
        EXPECT_LE(memory.counters(nullptr)->fetches, needed + 1) << "of the first step";
    });
}

// A page that is expected to be written gets a twin; if nothing is written, there is nothing to tell.
TEST_P(SharedPrefetchTest, PagesThatAreExpectedToBeWrittenAndAreNot) {
    const Watchdog watchdog("expected and not written");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 8;
        auto* const array = allocate<std::uint32_t>(memory, 2 * pages * words);
        const std::size_t first = rank.rank() == 0 ? pages : 0; // the other one's
        for (std::uint32_t round = 1; round <= 6; ++round) {
            for (std::size_t page = first; page < first + pages && round != 4; ++page) array[page * words] = round;
            const auto before = memory.counters(nullptr).value();
            ASSERT_TRUE(barrier(memory, 1));
            const auto after = memory.counters(nullptr).value();
            EXPECT_EQ(after.differences - before.differences, round == 4 ? 0 : pages) << "round " << round;
        }
        for (std::size_t page = 0; page < 2 * pages; ++page) ASSERT_EQ(array[page * words], 6u);
        ASSERT_TRUE(memory.barrier());
    });
}

// Rank 1 reads a page, loses it at a lock, and needs it again: it is fetched in advance for the first time, and faults
// for the read and the write behind the lock.
TEST_P(SharedPrefetchTest, WhatIsNeededBeforeALockIsExpected) {
    const Watchdog watchdog("needed before a lock");
    std::atomic<std::uint32_t> left{0}; // by rank 0; both are threads of this process
    run(2, [&left](Rank& rank, SharedMemory& memory) {
        constexpr std::uint32_t rounds = 50, learning = 6;
        auto* const array = allocate<std::uint32_t>(memory, words);
        dsm::Locks& locks = **memory.locks("test");
        if (rank.rank() == 0) left = 0;
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            if (rank.rank() == 0) array[0] = round;
            ASSERT_TRUE(barrier(memory, 1));
            ASSERT_EQ(array[0], round);
            while (rank.rank() == 1 && left < round) std::this_thread::yield();
            ASSERT_TRUE(locks.acquire(0));
            array[1] = array[1] + 1;
            ASSERT_TRUE(locks.release(0));
            if (rank.rank() == 0) left = round;
            ASSERT_TRUE(barrier(memory, 2));
        }
        EXPECT_EQ(array[1], 2 * rounds);
        if (rank.rank() == 1) {
            EXPECT_LE(memory.counters(nullptr)->faults, 2 * rounds + 3 * learning);
        }
        ASSERT_TRUE(memory.barrier());
    });
}

// Three kinds of intervals that begin at one place, as a function has that is called for grids of several sizes. Rank 1
// has two threads, whose first faults tell which one it is. Of the 20 intervals of a kind five learn at most: the first
// two or three, and one after 4 and after 8 others.
TEST_P(SharedPrefetchTest, ThreadsTellTheIntervalsOfAPlaceApart) {
    const Watchdog watchdog("several intervals of a place");
    run(2, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t pages = 40, kinds = 3, learning = 5, until_known = 4;
        constexpr std::uint32_t rounds = 60;
        auto* const array = allocate<std::uint32_t>(memory, 2 * kinds * pages * words); // the first half is rank 0's
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            auto* const begin = array + round % kinds * pages * words;
            for (std::size_t page = 0; page < pages && rank.rank() == 0; ++page) begin[page * words] = round;
            ASSERT_TRUE(barrier(memory, 1));
            const auto look = [&](std::size_t first) {
                for (std::size_t page = first; page < pages; page += 2) EXPECT_EQ(begin[page * words], round);
            };
            std::thread other([&] { look(1); });
            look(0);
            other.join();
            ASSERT_TRUE(barrier(memory, 2));
        }
        if (rank.rank() == 1) {
            const auto counters = memory.counters(nullptr).value();
            EXPECT_LE(counters.faults, kinds * learning * pages + rounds * until_known);
        }
    });
}

/// A random program without data races that comes to a few places again and again, where it mostly does the same as
/// the last time: each byte has at most one writer in an interval, and no reader beside it.
void run_random_program(Rank& rank, SharedMemory& memory, unsigned seed) {
    tests::Random random(seed); // the same at every rank
    const std::size_t page = platform::page_size() << random.between(0, 2);
    const std::size_t bytes = random.between<std::size_t>(1, 30 * page);
    const auto placement =
        tests::every_placement[random.between<std::size_t>(0, std::size(tests::every_placement) - 1)];
    auto* const array = tests::allocate_shared<std::uint8_t>(memory, bytes, placement, page);
    std::vector<std::uint8_t> expected(bytes);
    struct Pattern {
        std::size_t begin, end, stride, deal, look, lock_at;
        bool reads_at_rank[3];
    };
    const auto draw = [&] {
        Pattern made{};
        made.begin = random.between<std::size_t>(0, bytes - 1);
        made.end = random.between<std::size_t>(made.begin, bytes);
        made.stride = random.between<std::size_t>(1, 2000);
        made.deal = random.between<std::size_t>(0, 2);
        made.look = random.between<std::size_t>(1, 5000);
        made.lock_at = random.between<std::size_t>(0, bytes - 1);
        for (bool& each : made.reads_at_rank) each = random.once_in(2);
        return made;
    };
    std::array<Pattern, 3> patterns{};
    for (Pattern& each : patterns) each = draw();
    const std::size_t places = random.once_in(2) ? 1 : patterns.size(); // 1: all patterns begin at the same one
    dsm::Locks& locks = **memory.locks("test");
    const auto me = static_cast<std::size_t>(rank.rank()), ranks = static_cast<std::size_t>(rank.size());
    for (int interval = 0; interval < 60; ++interval) {
        const std::size_t kind = static_cast<std::size_t>(interval) % patterns.size(), place = kind % places;
        if (random.once_in(15)) patterns[kind] = draw();
        const Pattern& now = patterns[kind];
        for (std::size_t at = now.begin; at < now.end; at += now.stride) {
            const auto value = static_cast<std::uint8_t>(random.word());
            if ((at / 7 + now.deal) % ranks == me) array[at] = value;
            expected[at] = value;
        }
        ASSERT_TRUE(barrier(memory, 2 * place + 1));
        for (std::size_t at = 0; at < bytes && now.reads_at_rank[me]; at += now.look)
            ASSERT_EQ(array[at], expected[at]) << "seed " << seed << " interval " << interval << " byte " << at;
        ASSERT_TRUE(barrier(memory, 2 * place + 2));
        if (random.once_in(3)) { // every rank adds to the same byte, in any order
            ASSERT_TRUE(locks.acquire(3));
            array[now.lock_at] = static_cast<std::uint8_t>(array[now.lock_at] + 1);
            ASSERT_TRUE(locks.release(3));
            expected[now.lock_at] = static_cast<std::uint8_t>(expected[now.lock_at] + ranks);
            ASSERT_TRUE(barrier(memory, 100 + place));
        }
    }
    for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(array[at], expected[at]) << "seed " << seed << " byte " << at;
    ASSERT_TRUE(memory.barrier());
    ASSERT_TRUE(memory.release(array));
}

TEST_P(SharedPrefetchTest, RandomProgramsThatRepeatAgreeWithASequentialRun) {
    const Watchdog watchdog("random programs that repeat");
    for (const int ranks : {2, 3}) {
        const unsigned first = std::random_device{}();
        run(ranks, [&](Rank& rank, SharedMemory& memory) {
            for (unsigned program = 0; program < tests::programs(8); ++program)
                run_random_program(rank, memory, first + program);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedPrefetchTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
