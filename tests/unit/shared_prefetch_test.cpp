#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "dsm/access_history.hpp"
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

/// The intervals until the next one that learns, each of which must expect exactly this.
unsigned intervals_that_expect(AccessHistory& history, const Accesses& needed) {
    for (unsigned intervals = 0;; ++intervals) {
        const Accesses& expected = history.begin({.visit = 1});
        if (expected.count() == 0) { // so everything faults
            history.end(needed, {});
            return intervals;
        }
        EXPECT_EQ(expected.fetched, needed.fetched);
        EXPECT_EQ(expected.written, needed.written);
        history.end({}, {});
    }
}

TEST(AccessHistoryTest, WhatTwoIntervalsNeededIsExpectedMoreAndMoreOften) {
    AccessHistory history;
    const Accesses needed{.fetched = {3, 4, 5, 900}, .written = {4, 17}};
    EXPECT_EQ(intervals_that_expect(history, needed), 0u);
    EXPECT_EQ(intervals_that_expect(history, needed), 0u);
    for (const unsigned often : {4, 8, 16, 32, 64, 64}) EXPECT_EQ(intervals_that_expect(history, needed), often);
}

TEST(AccessHistoryTest, PlacesHaveExpectationsOfTheirOwn) {
    AccessHistory history;
    for (int round = 0; round < 2; ++round)
        for (const std::uint64_t place : {1, 2, 0}) {
            EXPECT_EQ(history.begin({.visit = place}).count(), 0u);
            history.end({.fetched = {place}, .written = {}}, {});
        }
    EXPECT_EQ(history.begin({.visit = 1}).fetched, PageList{1});
    history.end({}, {});
    EXPECT_EQ(history.begin({.visit = 2}).fetched, PageList{2});
    history.end({}, {});
    EXPECT_EQ(history.begin({}).count(), 0u) << "an unknown place";
    history.end({}, {});
}

TEST(AccessHistoryTest, WhatTheCodeNeededIsExpectedOfNewVisits) {
    AccessHistory history;
    const Accesses needed{.fetched = {3, 4}, .written = {5}};
    for (std::uint64_t visit = 1; visit < 20; ++visit) {
        const bool learns = visit <= 2 || visit == 7 || visit == 16; // 4 and 8 that expect in between
        const Accesses& expected = history.begin({.visit = visit, .code = 100});
        EXPECT_EQ(expected.count(), learns ? 0u : 3u) << "visit " << visit;
        history.end(learns ? needed : Accesses{}, {});
    }
}

TEST(AccessHistoryTest, AVisitCountsForMoreThanItsCode) {
    AccessHistory history;
    const auto needs = [](std::uint64_t visit) { return Accesses{.fetched = {10 * visit}, .written = {}}; };
    for (int round = 0; round < 2; ++round)
        for (const std::uint64_t visit : {1, 2, 3}) { // one after another at the same code, so that cannot tell
            EXPECT_EQ(history.begin({.visit = visit, .code = 100}).count(), 0u);
            history.end(needs(visit), {});
        }
    for (const std::uint64_t visit : {1, 2, 3}) {
        EXPECT_EQ(history.begin({.visit = visit, .code = 100}).fetched, needs(visit).fetched);
        history.end({}, {});
    }
}

TEST(AccessHistoryTest, NothingIsExpectedOfIntervalsThatDiffer) {
    AccessHistory history;
    for (std::size_t round = 0; round < 50; ++round) {
        EXPECT_EQ(history.begin({.visit = 1}).count(), 0u) << "round " << round;
        history.end({.fetched = {4 * round, 4 * round + 1}, .written = {7}}, {});
    }
}

TEST(AccessHistoryTest, AnIntervalThatNeedsMuchElseIsLearnedAnew) {
    AccessHistory history;
    const Accesses before{.fetched = {1, 2, 3, 4}, .written = {}}, after{.fetched = {11, 12, 13, 14}, .written = {}};
    EXPECT_EQ(intervals_that_expect(history, before), 0u);
    EXPECT_EQ(intervals_that_expect(history, before), 0u);
    EXPECT_EQ(history.begin({.visit = 1}).fetched, before.fetched);
    history.end(after, {});
    EXPECT_EQ(intervals_that_expect(history, after), 0u);
    EXPECT_EQ(intervals_that_expect(history, after), 0u);
    EXPECT_EQ(intervals_that_expect(history, after), 4u);
}

TEST(AccessHistoryTest, WhatIsLostAtLocksIsNotExpected) {
    AccessHistory history;
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(history.begin({.visit = 1}).count(), 0u);
        history.end({.fetched = {1, 2, 3, 4, 5}, .written = {}}, {3});
    }
    EXPECT_EQ(history.begin({.visit = 1}).fetched, (PageList{1, 2, 4, 5}));
    history.end({}, {4});
    EXPECT_EQ(history.begin({.visit = 1}).fetched, (PageList{1, 2, 5}));
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
    memory.begin_interval({.visit = place});
    return met;
}

// Each rank writes its own pages and those next to them, and reads the other one's, as a stencil does. Of the 100
// rounds the first two and four later ones learn (after 4, 8, 16 and 32 others).
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

TEST_P(SharedPrefetchTest, IntervalsThatDifferFetchNothingInVain) {
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
        EXPECT_LE(memory.counters(nullptr)->fetches, needed);
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
    dsm::Locks& locks = **memory.locks("test");
    const auto me = static_cast<std::size_t>(rank.rank()), ranks = static_cast<std::size_t>(rank.size());
    for (int interval = 0; interval < 60; ++interval) {
        const std::size_t place = static_cast<std::size_t>(interval) % patterns.size();
        if (random.once_in(15)) patterns[place] = draw();
        const Pattern& now = patterns[place];
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
            for (unsigned program = 0; program < 15; ++program) run_random_program(rank, memory, first + program);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedPrefetchTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
