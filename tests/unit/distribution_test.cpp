#include <gtest/gtest.h>
#include <vector>

#include "settings/distribution.hpp"

// Distributions of arrays as users write them, against the owners that the paper's directive gives their elements.
namespace kumiki {
namespace {

Distribution made(std::string_view text) {
    auto distribution = Distribution::from(text);
    EXPECT_TRUE(distribution) << text << ": " << distribution.error().message;
    return *distribution;
}

TEST(Distribution, OfBytes) {
    const std::uint64_t bytes = 10000;
    for (std::uint64_t offset = 0; offset < bytes; offset += 7) {
        ASSERT_EQ(made("block").owner(offset, bytes, 3), static_cast<int>(offset / 3334)) << offset;
        ASSERT_EQ(made("cyclic").owner(offset, bytes, 2), static_cast<int>(offset / 4096 % 2)) << offset;
        ASSERT_EQ(made("cyclic:100").owner(offset, bytes, 3), static_cast<int>(offset / 100 % 3)) << offset;
        ASSERT_EQ(made("cyclic:1K").owner(offset, bytes, 3), static_cast<int>(offset / 1024 % 3)) << offset;
        ASSERT_EQ(made("rank:2").owner(offset, bytes, 3), 2);
    }
    EXPECT_EQ(made("first").kind, Distribution::Kind::first);
}

// The paper's example: an array of 100 x 200 (2.2).
TEST(Distribution, OfTheFirstAndOfTheLastDimension) {
    constexpr std::uint64_t rows = 100, columns = 200, element = 8, bytes = rows * columns * element;
    const Distribution by_rows = made("[block:100][*:200]"), by_columns = made("[*:100][block:200]"),
                       dealt = made("[cyclic:100:3][*:200]");
    for (std::uint64_t row = 0; row < rows; ++row)
        for (std::uint64_t column = 0; column < columns; ++column) {
            const std::uint64_t offset = (row * columns + column) * element;
            ASSERT_EQ(by_rows.owner(offset, bytes, 4), static_cast<int>(row / 25));
            ASSERT_EQ(by_rows.owner(offset + element - 1, bytes, 4), static_cast<int>(row / 25));
            ASSERT_EQ(by_columns.owner(offset, bytes, 3), static_cast<int>(column / 67));
            ASSERT_EQ(dealt.owner(offset, bytes, 4), static_cast<int>(row / 3 % 4));
        }
}

// Several dimensions: the ranks are a grid, as square as it can be, with the longer side first.
TEST(Distribution, OfTwoDimensions) {
    const Distribution both = made("[block:12][*:5][block:12]");
    for (std::uint64_t i = 0; i < 12; ++i)
        for (std::uint64_t j = 0; j < 5; ++j)
            for (std::uint64_t k = 0; k < 12; ++k) {
                const std::uint64_t offset = (i * 5 + j) * 12 + k;
                ASSERT_EQ(both.owner(offset, 720, 4), static_cast<int>(i / 6 * 2 + k / 6));
                ASSERT_EQ(both.owner(offset, 720, 6), static_cast<int>(i / 4 * 2 + k / 6));
                ASSERT_EQ(both.owner(offset, 720, 5), static_cast<int>((i / 3)));
            }
}

TEST(Distribution, EveryRankIsOneOfThem) {
    for (const auto* const text : {"[block:7][block:3][cyclic:11]", "[block:7][cyclic:33]", "[*:7][block:33]", "block"})
        for (int ranks = 1; ranks < 40; ++ranks)
            for (std::uint64_t offset = 0; offset < 231; ++offset) {
                const int owner = made(text).owner(offset, 231, ranks);
                ASSERT_TRUE(owner >= 0 && owner < ranks) << text << " at " << offset << " of " << ranks;
            }
}

TEST(Distribution, RefusesOtherTexts) {
    for (const auto* const text : {"",
                                   "blocks",
                                   "block:3",
                                   "cyclic:",
                                   "cyclic:0",
                                   "cyclic:x",
                                   "cyclic:9999999999999G",
                                   "rank",
                                   "rank:",
                                   "rank:-1",
                                   "rank:x",
                                   "first:1",
                                   "[",
                                   "[]",
                                   "[block]",
                                   "[block:]",
                                   "[block:0]",
                                   "[block:4",
                                   "[block:4]x",
                                   "[*:4]",
                                   "[block:4:2]",
                                   "[cyclic:4:0]",
                                   "[block:4294967296][block:4294967296]"})
        EXPECT_FALSE(Distribution::from(text)) << text;
}

TEST(LoopSchedule, NamesAVariableAndItsRows) {
    const auto counted = LoopSchedule::from("affinity:field[100]"),
               numbered = LoopSchedule::from("affinity:u_[-1:100]");
    ASSERT_TRUE(counted && numbered);
    EXPECT_EQ(counted->kind, LoopSchedule::Kind::affinity);
    EXPECT_EQ(counted->name, "field");
    EXPECT_EQ(counted->low, 0);
    EXPECT_EQ(counted->high, 99);
    EXPECT_EQ(numbered->name, "u_");
    EXPECT_EQ(numbered->low, -1);
    EXPECT_EQ(numbered->high, 100);
    EXPECT_EQ(LoopSchedule::from("threads")->kind, LoopSchedule::Kind::threads);
    EXPECT_EQ(LoopSchedule::from("monotonic")->kind, LoopSchedule::Kind::monotonic);
    EXPECT_EQ(LoopSchedule::from("measured")->kind, LoopSchedule::Kind::measured);
    for (const auto* const text : {"", "thread", "measured:2", "affinity", "affinity:", "affinity:a", "affinity:a[]",
                                   "affinity:a[0]", "affinity:a[3:2]", "affinity:[3]", "affinity:a[3", "rows:a[3]"})
        EXPECT_FALSE(LoopSchedule::from(text)) << text;
}

TEST(KnownVariables, AreReadAsTheyAreWritten) {
    const LoopSchedule affinity{LoopSchedule::Kind::affinity, "field", -1, 98};
    const auto known = known_variables_from(variable_homes_text(0x4f40, 800000, "[block:100][*:1000]") + ";" +
                                            variable_homes_text(0x10000, 4096, "rank:1") + ";" +
                                            variable_homes_text(0x4f40, 800000, rows_text(affinity)));
    ASSERT_TRUE(known) << known.error().message;
    ASSERT_EQ(known->homes.size(), 2u);
    EXPECT_EQ(known->homes[0].address, 0x4f40u);
    EXPECT_EQ(known->homes[0].bytes, 800000u);
    EXPECT_EQ(known->homes[0].distribution.elements(), 100000u);
    EXPECT_EQ(known->homes[1].distribution.rank, 1);
    ASSERT_TRUE(known->rows);
    EXPECT_EQ(known->rows->low, -1);
    EXPECT_EQ(known->rows->row_bytes(), 8000u);
    EXPECT_FALSE(known_variables_from("")->rows);
    for (const auto* const text : {"x", "10+0=block", "10+10", "10+10=", "10+10=rows", "10+10=rows:2:1"})
        EXPECT_FALSE(known_variables_from(text)) << text;
}

} // namespace
} // namespace kumiki
