#include <algorithm>
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "dsm/access_history.hpp"
#include "support/build.hpp"
#include "support/random.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Pages that are fetched, and made writable, before the program faults there: what is expected of an interval, and
// programs whose intervals repeat, do not repeat, and nearly repeat, over copies per rank and over two hosts.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;
using Accesses = AccessHistory::Accesses;
using PageList = AccessHistory::PageList;

constexpr std::size_t words = 4096 / sizeof(std::uint32_t);

// -- what is expected --

/// An interval of a place in which these pages are needed, those that are fetched first. Returns how many of them
/// fault.
std::size_t faults(AccessHistory& history, Visit visit, const Accesses& needed, const PageList& dropped = {},
                   std::size_t unchanged = 0) {
    const Accesses* expected = history.begin(visit);
    Accesses faulted;
    const auto touch = [&](const PageList& pages, PageList Accesses::* kind) {
        for (const std::size_t page : pages) {
            if (expected != nullptr && std::ranges::binary_search(expected->*kind, page)) continue;
            (faulted.*kind).push_back(page);
            if (history.searches()) expected = history.fault(page);
        }
    };
    touch(needed.fetched, &Accesses::fetched);
    touch(needed.written, &Accesses::written);
    const std::size_t count = faulted.count();
    history.end(std::move(faulted), dropped, unchanged);
    return count;
}

TEST(AccessHistoryTest, WhatIntervalsNeedAgainIsExpectedMoreAndMoreOften) {
    AccessHistory history;
    const Accesses needed{.fetched = {3, 4, 5, 900}, .written = {4, 17}};
    EXPECT_EQ(faults(history, {1}, needed), 6u);
    for (const int often : {1, 4, 8, 16, 32, 64, 64}) {
        for (int interval = 0; interval < often; ++interval) EXPECT_EQ(faults(history, {1}, needed), 0u);
        EXPECT_EQ(faults(history, {1}, needed), 6u) << "after " << often;
    }
}

TEST(AccessHistoryTest, AnIntervalThatLearnsProbablyNeedsTheSame) {
    AccessHistory history;
    const Accesses needed{.fetched = {3, 4}, .written = {4}};
    EXPECT_EQ(history.begin({1}), nullptr);
    EXPECT_EQ(history.likely(), nullptr) << "the first one";
    history.end(needed, {}, 0);
    EXPECT_NE(history.begin({1}), nullptr);
    EXPECT_EQ(history.likely(), nullptr) << "it is expected";
    history.end({}, {}, 0);
    EXPECT_EQ(history.begin({1}), nullptr);
    ASSERT_NE(history.likely(), nullptr);
    EXPECT_EQ(history.likely()->fetched, needed.fetched);
    history.end(needed, {}, 0);
}

TEST(AccessHistoryTest, PlacesHaveExpectationsOfTheirOwn) {
    AccessHistory history;
    for (int round = 0; round < 3; ++round)
        for (const std::uint64_t place : {1, 2, 0}) { // 0 is unknown
            const bool expects = round == 1 && place != 0;
            EXPECT_EQ(faults(history, {place}, {.fetched = {place}, .written = {}}), expects ? 0u : 1u);
        }
}

TEST(AccessHistoryTest, OfIntervalsThatDifferSomethingIsExpectedOnlyOnce) {
    AccessHistory history;
    for (std::size_t round = 0; round < 200; ++round)
        EXPECT_EQ(faults(history, {1}, {.fetched = {4 * round, 4 * round + 1}, .written = {7}}), round == 1 ? 2u : 3u)
            << round;
}

TEST(AccessHistoryTest, FirstFaultsTellIntervalsOfOnePlaceApart) {
    AccessHistory history;
    const std::array needs = {Accesses{.fetched = {1, 10, 11, 12, 13}, .written = {10}},
                              Accesses{.fetched = {1, 20, 21, 22, 23}, .written = {}},
                              Accesses{.fetched = {30, 31, 32}, .written = {40, 41}}};
    EXPECT_EQ(faults(history, {1}, needs[0]), needs[0].count());
    EXPECT_EQ(faults(history, {1}, needs[1]), 4u) << "while the other is expected, which is forgotten";
    for (std::size_t round = 0; round < 6; ++round)
        for (const std::size_t kind : {2, 0, 1}) {
            const std::size_t first = kind == 2 ? 1 : 2; // page 1 belongs to two of them
            EXPECT_EQ(faults(history, {1}, needs[kind]), round < 2 ? needs[kind].count() : first) << "round " << round;
        }
}

TEST(AccessHistoryTest, TheWayToAPlaceTellsIntervalsApart) {
    AccessHistory history;
    const std::array needs = {Accesses{.fetched = {10, 11, 12}, .written = {10}},
                              Accesses{.fetched = {20, 21, 22}, .written = {}},
                              Accesses{.fetched = {30, 31, 32}, .written = {40, 41}}};
    const auto round = [&](std::array<std::uint64_t, 3> ways) {
        std::array<std::size_t, 3> count{};
        for (std::size_t kind = 0; kind < 3; ++kind) count[kind] = faults(history, {1, ways[kind]}, needs[kind]);
        return count;
    };
    const std::array<std::uint64_t, 3> ways = {100, 200, 300};
    const std::array<std::size_t, 3> none{}, one{1, 1, 1};
    for (int first = 0; first < 8; ++first) round(ways); // each has learned again, and expects for a while
    EXPECT_EQ(round(ways), none);
    EXPECT_EQ(round({400, 500, 600}), one) << "unknown ways: the first fault tells";
    EXPECT_EQ(faults(history, {1, 100}, needs[1]), 3U) << "another pattern than the way has led to before";
    EXPECT_EQ(faults(history, {1, 100}, needs[1]), 1U) << "the way is not believed until it has led there twice";
    EXPECT_EQ(faults(history, {1, 100}, needs[1]), 1U);
    EXPECT_EQ(faults(history, {1, 100}, needs[1]), 0U);
    EXPECT_EQ(faults(history, {1, 200}, needs[1]), 0U) << "nobody else is blamed for that";
    EXPECT_EQ(faults(history, {1, 300}, needs[2]), 0U);
}

TEST(AccessHistoryTest, AnIntervalThatNeedsNothingIsToldFromOthers) {
    AccessHistory history;
    const Accesses needed{.fetched = {1, 2, 3}, .written = {}};
    const std::array<std::size_t, 8> faulting = {3, 3, 0, 0, 3, 1, 1, 1};
    for (std::size_t round = 0; round < faulting.size(); ++round) {
        EXPECT_EQ(faults(history, {1}, needed), faulting[round]) << "round " << round;
        const bool vain = round < 3; // then one that needs nothing learns
        EXPECT_EQ(history.begin({1}) != nullptr, vain) << "round " << round;
        history.end({}, {}, 0);
    }
}

TEST(AccessHistoryTest, WhatIsNotNeededAnyMoreIsForgotten) {
    AccessHistory history;
    const Accesses before{.fetched = {1, 2, 3, 4}, .written = {}}, after{.fetched = {11, 12, 13, 14}, .written = {}};
    for (const std::size_t expected : {4, 0, 4, 0}) EXPECT_EQ(faults(history, {1}, before), expected);
    EXPECT_EQ(faults(history, {1}, after), 4u) << "while the other is expected";
    for (const std::size_t expected : {4, 4, 1, 1, 1, 1, 4, 1, 0, 0})
        EXPECT_EQ(faults(history, {1}, after), expected) << "of this one";
}

TEST(AccessHistoryTest, WhatIsLostAtLocksIsNotExpected) {
    AccessHistory history;
    for (const std::size_t expected : {5, 1, 5})
        EXPECT_EQ(faults(history, {1}, {.fetched = {1, 2, 3, 4, 5}, .written = {}}, {3}), expected);
    EXPECT_EQ(history.begin({1})->fetched, (PageList{1, 2, 4, 5}));
}

// A transposition in place, and one into another array.
TEST(AccessHistoryTest, OfNestedPatternsTheLeastIsExpected) {
    AccessHistory history;
    const Accesses one{.fetched = {1, 2, 3, 4}, .written = {1, 2, 3, 4}};
    const Accesses all{.fetched = {1, 2, 3, 4, 11, 12, 13, 14}, .written = {1, 2, 3, 4, 11, 12, 13, 14}};
    for (const Accesses& needed : {one, all, one, all, one, all}) faults(history, {1}, needed);
    EXPECT_EQ(faults(history, {1}, one), 1u);
    EXPECT_EQ(faults(history, {1}, all), 9u) << "the first one, and what is not in the other pattern";
    EXPECT_EQ(faults(history, {1}, one), 1u);
    EXPECT_EQ(faults(history, {1}, all), all.count()) << "after four times it learns";
    EXPECT_EQ(faults(history, {1}, one), one.count());
    for (int round = 0; round < 4; ++round) {
        EXPECT_EQ(faults(history, {1}, all), 9u);
        EXPECT_EQ(faults(history, {1}, one), 1u);
    }
}

TEST(AccessHistoryTest, WhatAnExpectingIntervalNeedsBesidesIsExpectedNextTime) {
    AccessHistory history;
    const Accesses learned{.fetched = {1, 2, 3, 4, 5, 6}, .written = {1, 2}};
    const Accesses more{.fetched = {1, 2, 3, 4, 5, 6, 7, 8}, .written = {1, 2, 3, 4}};
    Accesses other = learned;
    other.fetched.push_back(9);
    for (const std::size_t expected : {8, 0, 8}) EXPECT_EQ(faults(history, {1}, learned), expected);
    EXPECT_EQ(faults(history, {1}, more), 4u);
    EXPECT_EQ(faults(history, {1}, more), 0u);
    for (int round = 0; round < 2; ++round)
        EXPECT_EQ(faults(history, {1}, other), 1u) << "no more than half as much again";
    EXPECT_EQ(faults(history, {1}, learned), 8u) << "what is learned next";
}

TEST(AccessHistoryTest, WhatWasExpectedToBeWrittenAndIsUnchangedIsLearnedAgainOnce) {
    const Accesses needed{.fetched = {1, 2, 3, 4, 5, 6}, .written = {4, 5, 6}};
    const Accesses less{.fetched = {1, 2, 3}, .written = {}};
    AccessHistory program_writes_the_same, program_has_changed;
    for (AccessHistory* history : {&program_writes_the_same, &program_has_changed}) {
        for (const std::size_t expected : {9, 0, 9}) EXPECT_EQ(faults(*history, {1}, needed, {}, 2), expected);
        EXPECT_EQ(faults(*history, {1}, needed, {}, 2), 0u) << "too few to doubt";
        EXPECT_EQ(faults(*history, {1}, needed, {}, 3), 0u);
    }
    EXPECT_EQ(faults(program_writes_the_same, {1}, needed, {}, 3), needed.count());
    for (int round = 0; round < 8; ++round) EXPECT_EQ(faults(program_writes_the_same, {1}, needed, {}, 3), 0u);
    for (const std::size_t expected : {3, 3, 0})
        EXPECT_EQ(faults(program_has_changed, {1}, less), expected) << "of what it needs now, and of nothing else";
}

// -- programs --

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
