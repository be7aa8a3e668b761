#include "dsm/fault_runs.hpp"

#include <cstddef>
#include <gtest/gtest.h>

// How many pages faults make ready, by the faults before.
namespace kumiki::dsm {
namespace {

constexpr std::size_t array_pages = 10'000, longest_window = 256;

/// A thread uses so many pages one after another, from this one on in this direction. Returns how many of them fault.
std::size_t faults(FaultRuns& runs, std::size_t begin, std::size_t count, bool ascends) {
    std::size_t found = 0, ready = 0; // of those that are used
    for (std::size_t used = 0; used < count; ++used) {
        if (used < ready) continue;
        const std::size_t page = ascends ? begin + used : begin - used;
        const Window window = runs.window(page, longest_window);
        runs.add(page, window);
        EXPECT_TRUE(used == 0 || window.count == 1 || window.ascends == ascends) << page;
        ready = used + (window.ascends == ascends ? window.count : 1);
        ++found;
    }
    return found;
}

TEST(FaultRunsTest, ARunGrowsInItsDirection) {
    FaultRuns runs(array_pages);
    EXPECT_LT(faults(runs, 1000, 64, true), 12U);
    EXPECT_LT(faults(runs, 3000, 64, false), 12U);
    EXPECT_EQ(faults(runs, 5000, 1, true), 1U);
}

TEST(FaultRunsTest, TheThirdRowIsExpectedToBeAsLongAsTheTwoBefore) {
    for (const bool ascends : {true, false}) {
        FaultRuns runs(array_pages);
        const auto row = [ascends](std::size_t number) { return 100 + (ascends ? number : 50 - number) * 124 / 3; };
        EXPECT_GT(faults(runs, row(0), 20, ascends), 4U);
        EXPECT_GT(faults(runs, row(1), 21, ascends), 4U);
        for (std::size_t number = 2; number < 40; ++number)
            EXPECT_LE(faults(runs, row(number), 20 + number % 2, ascends), 2U) << "row " << number;
    }
}

TEST(FaultRunsTest, AKnownRowThatIsALittleLongerDoesNotGoOn) {
    FaultRuns runs(array_pages);
    for (const std::size_t begin : {100U, 150U}) runs.add(begin, {20, true});
    const Window known = runs.window(200, longest_window);
    ASSERT_EQ(known.count, 20U);
    runs.add(200, known);
    constexpr std::size_t behind = 220;
    EXPECT_EQ(runs.window(behind, longest_window).count, 1U);
    runs.add(behind, {1, true});
    EXPECT_GT(runs.window(behind + 1, longest_window).count, 1U) << "now it goes on";
}

TEST(FaultRunsTest, PagesThatWereNotUsedShortenTheRowsThatAreExpected) {
    for (const bool ascends : {true, false}) {
        FaultRuns runs(array_pages);
        const auto row = [ascends](std::size_t number) { return ascends ? 100 + 50 * number : 5000 - 50 * number; };
        for (const std::size_t number : {0U, 1U}) {
            faults(runs, row(number), 20, ascends); // makes more than 20 pages ready
            for (std::size_t page = 20; page < 30; ++page)
                runs.note_unused(ascends ? row(number) + page : row(number) - page);
        }
        const Window expected = runs.window(row(2), longest_window);
        EXPECT_EQ(expected.count, 20U);
        EXPECT_EQ(expected.ascends, ascends);
    }
}

TEST(FaultRunsTest, WhereItIsSaidSoARunGrowsSlowly) {
    FaultRuns runs(array_pages);
    for (std::size_t page = 100; page < 124;) {
        const Window window = runs.window(page, longest_window, FaultRuns::Growth::slow);
        EXPECT_LE(window.count, 2U);
        runs.add(page, window);
        page += window.count;
    }
}

TEST(FaultRunsTest, AnIntervalExpectsNothingOfTheOneBefore) {
    FaultRuns runs(array_pages);
    for (std::size_t row = 0; row < 3; ++row) faults(runs, 100 + 50 * row, 20, true);
    runs.take();
    EXPECT_EQ(runs.window(100 + 50 * 3, longest_window).count, 1U);
}

TEST(FaultRunsTest, RowsOfSeveralMatricesAreToldApart) {
    FaultRuns runs(array_pages);
    for (std::size_t row = 0; row < 20; ++row) {
        const std::size_t found = faults(runs, 100 + 40 * row, 12, true) + faults(runs, 3000 + 70 * row, 30, false) +
                                  faults(runs, 7, 1, true); // and a variable
        EXPECT_LE(found, row < 2 ? 20U : 3U) << "row " << row;
    }
}

TEST(FaultRunsTest, NothingIsExpectedOfRunsAtOtherDistancesOrOfSinglePages) {
    FaultRuns runs(array_pages);
    for (const std::size_t begin : {100U, 200U, 330U, 500U, 780U}) {
        EXPECT_EQ(runs.window(begin, longest_window).count, 1U) << begin;
        faults(runs, begin, 20, true);
    }
    FaultRuns single(array_pages);
    for (std::size_t row = 0; row < 20; ++row) EXPECT_EQ(faults(single, 100 * row, 1, true), 1U);
    EXPECT_EQ(single.window(2000, longest_window).count, 1U);
}

TEST(FaultRunsTest, AWindowEndsWithTheArrayAndHasNoMoreThanIsPossible) {
    FaultRuns runs(110);
    for (const std::size_t begin : {10U, 40U, 70U}) faults(runs, begin, 20, true);
    EXPECT_EQ(runs.window(100, longest_window).count, 10U);
    FaultRuns few(array_pages);
    for (const std::size_t begin : {100U, 200U}) faults(few, begin, 20, true);
    EXPECT_EQ(few.window(300, 5).count, 5U);
}

} // namespace
} // namespace kumiki::dsm
