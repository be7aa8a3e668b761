#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <utility>

#include "dsm/access_history.hpp"

// What is expected of an interval of a program, by what it needed in earlier ones.
namespace kumiki::dsm {
namespace {

using Accesses = AccessHistory::Accesses;
using PageList = AccessHistory::PageList;

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

} // namespace
} // namespace kumiki::dsm
