#include <gtest/gtest.h>
#include <vector>

#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

// Arrays whose dimensions are dealt to the ranks, and loops that follow the homes of their data.
namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;
using Dimension = Distribution::Dimension;
using How = Dimension::How;

constexpr Dimension whole(std::uint64_t extent) { return {.how = How::whole, .extent = extent}; }
constexpr Dimension block(std::uint64_t extent) { return {.how = How::block, .extent = extent}; }
constexpr Dimension cyclic(std::uint64_t extent, std::uint64_t length) {
    return {.how = How::cyclic, .extent = extent, .length = length};
}

std::vector<std::size_t> own(SharedMemory& memory, const void* array, std::size_t dimension) {
    std::vector<std::size_t> indexes;
    for (std::size_t from = 0;;) {
        const auto run = memory.own(array, dimension, from);
        EXPECT_TRUE(run) << run.error().message;
        if (!run || run->begin == run->end) return indexes;
        EXPECT_GE(run->begin, from);
        for (std::size_t index = run->begin; index < run->end; ++index) indexes.push_back(index);
        from = run->end;
    }
}

/// Over copies per rank with each mechanism, or over one memory.
class SharedDimensionsTest : public testing::TestWithParam<const char*> {
protected:
    template <class Body>
    void run(int ranks, Body body) {
        const std::string form = GetParam();
        if (form == "OneMemory") return tests::run_over_one_memory({.ranks = ranks}, body);
        tests::run_with_copies(form == "Protection" ? FaultMechanism::protection : FaultMechanism::userfaultfd,
                               {.ranks = ranks}, body);
    }
};

double* allocate(SharedMemory& memory, std::vector<Dimension> dimensions, std::size_t page = 0,
                 Placement placement = Placement::first) {
    const auto shape = Shape::of(sizeof(double), std::move(dimensions));
    EXPECT_TRUE(shape) << shape.error().message;
    const auto array = memory.allocate(*shape, page, placement);
    EXPECT_TRUE(array) << array.error().message;
    return static_cast<double*>(*array);
}

// Each index is one rank's, and that is the home of the page where its elements begin, with all lengths of pages.
TEST_P(SharedDimensionsTest, EachIndexBelongsToTheHomeOfItsElements) {
    const Watchdog watchdog("dimensions");
    run(3, [](Rank& rank, SharedMemory& memory) {
        for (const std::size_t page : {4096, 8192, 65536})
            for (const Dimension& rows : {block(100), cyclic(100, 1), cyclic(100, 7), block(2)}) {
                constexpr std::size_t columns = 200;
                double* const array = allocate(memory, {rows, whole(columns)}, page);
                const std::size_t bytes = rows.extent * columns * sizeof(double);
                for (std::size_t at = 0; at < bytes; at += page) { // as the distribution says
                    const std::size_t row = at / (columns * sizeof(double));
                    const std::size_t owner =
                        rows.how == How::block ? row / ((rows.extent + 2) / 3) : row / rows.length % 3;
                    ASSERT_EQ(memory.home(reinterpret_cast<std::byte*>(array) + at), static_cast<int>(owner));
                }
                std::vector<int> owners(rows.extent, 0), all(rows.extent);
                for (const std::size_t row : own(memory, array, 0)) {
                    ++owners[row];
                    ASSERT_EQ(memory.home(array + row * columns), rank.rank());
                }
                ASSERT_TRUE(rank.collectives.reduce(owners.data(), all.data(), all.size(), KUMIKI_INT32, KUMIKI_SUM,
                                                    collective::Collectives::every_rank));
                for (const int count : all) ASSERT_EQ(count, 1);
                ASSERT_EQ(own(memory, array, 1).size(), columns);
                ASSERT_TRUE(memory.release(array));
            }
    });
}

// The paper's example (2.2), an array of 100 x 200 whose rows are dealt: the loop over them, given to their homes,
// writes nothing at other ranks where rows are whole pages, and otherwise at most the page at each border.
TEST_P(SharedDimensionsTest, LoopsOverOwnRowsWriteNothingElsewhere) {
    const Watchdog watchdog("the affinity schedule");
    run(4, [](Rank& rank, SharedMemory& memory) {
        for (const std::size_t columns : {512, 200}) {
            double* const array = allocate(memory, {block(100), whole(columns)});
            for (int step = 1; step <= 3; ++step) {
                for (const std::size_t row : own(memory, array, 0))
                    for (std::size_t column = 0; column < columns; ++column) array[row * columns + column] += step;
                ASSERT_TRUE(memory.barrier());
            }
            const auto counters = memory.counters(array).value();
            EXPECT_LE(counters.differences, columns == 512 ? 0u : 3u) << columns;
            EXPECT_LE(counters.fetches, columns == 512 ? 0u : 3u) << columns;
            for (std::size_t at = 0; at < 100 * columns; ++at) ASSERT_EQ(array[at], 6.0) << at;
            ASSERT_TRUE(memory.barrier());
            if (rank.rank() == 3) {
                EXPECT_EQ(own(memory, array, 0).back(), 99u);
            }
            ASSERT_TRUE(memory.release(array));
        }
    });
}

// Two dimensions: the ranks are a grid, and each has the elements whose indexes it has in both.
TEST_P(SharedDimensionsTest, OfAGridEachRankHasOneRectangle) {
    const Watchdog watchdog("a grid");
    run(4, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t rows = 10, columns = 2048;
        double* const array = allocate(memory, {block(rows), block(columns)});
        const auto own_rows = own(memory, array, 0), own_columns = own(memory, array, 1);
        ASSERT_EQ(own_rows.size(), rows / 2);
        ASSERT_EQ(own_columns.size(), columns / 2);
        for (const std::size_t row : own_rows)
            for (const std::size_t column : own_columns) {
                ASSERT_EQ(memory.home(&array[row * columns + column]), rank.rank());
                array[row * columns + column] += 1;
            }
        ASSERT_TRUE(memory.barrier());
        EXPECT_EQ(memory.counters(array).value().differences, 0u);
        for (std::size_t at = 0; at < rows * columns; ++at) ASSERT_EQ(array[at], 1) << at;
        ASSERT_TRUE(memory.barrier());
    });
}

// Without dealt dimensions loops follow whatever homes there are; where there are none yet, as in blocks.
TEST_P(SharedDimensionsTest, LoopsFollowOtherHomesToo) {
    const Watchdog watchdog("loops that follow homes");
    run(3, [](Rank& rank, SharedMemory& memory) {
        constexpr std::size_t rows = 30, columns = 512; // a page
        double* const cyclic_pages = allocate(memory, {whole(rows), whole(columns)}, 4096, Placement::cyclic);
        for (const std::size_t row : own(memory, cyclic_pages, 0))
            ASSERT_EQ(row % 3, static_cast<std::size_t>(rank.rank()));
        double* const touched = allocate(memory, {whole(rows), whole(columns)}, 4096, Placement::first);
        const auto before = own(memory, touched, 0);
        ASSERT_EQ(before.size(), rows / 3);
        ASSERT_EQ(before.front(), rows / 3 * static_cast<std::size_t>(rank.rank()));
        if (!memory.has_copies()) return; // nobody finds out who touches what
        for (std::size_t row = static_cast<std::size_t>(2 - rank.rank()); row < rows; row += 3)
            touched[row * columns] = 1;
        ASSERT_TRUE(memory.barrier());
        for (const std::size_t row : own(memory, touched, 0))
            ASSERT_EQ(row % 3, static_cast<std::size_t>(2 - rank.rank()));
        ASSERT_TRUE(memory.barrier());
    });
}

TEST_P(SharedDimensionsTest, MistakesAreNamed) {
    run(2, [](Rank& rank, SharedMemory& memory) {
        const auto expect = [](const auto& result, const char* words) {
            ASSERT_FALSE(result) << words;
            EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
        };
        expect(Shape::of(8, {}), "at least one byte");
        expect(Shape::of(8, {block(5), whole(0)}), "at least one byte");
        expect(Shape::of(0, {block(5)}), "at least one byte");
        expect(Shape::of(8, {block(std::uint64_t{1} << 40), whole(std::uint64_t{1} << 40)}), "address space");
        const auto columns = Shape::of(8, {whole(100), block(200)});
        expect(columns->fits_pages(4096, 2), "parts are 800 of 1600 bytes");
        EXPECT_TRUE(columns->fits_pages(4096, 2).error().message.find("dimension 1") != std::string::npos);
        if (rank.size() == 1) return;
        double* const array = allocate(memory, {block(10), whole(10)});
        expect(memory.own(array, 2, 0), "2 dimensions");
        int local = 0;
        expect(memory.own(&local, 0, 0), "no shared array");
    });
}

INSTANTIATE_TEST_SUITE_P(Forms, SharedDimensionsTest, testing::Values("OneMemory", "Userfaultfd", "Protection"),
                         [](const auto& each) { return std::string(each.param); });

} // namespace
} // namespace kumiki::dsm
