#include "linpack/row_moves.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "support/random.hpp"

namespace kumiki::linpack {
namespace {

TEST(RowMoves, DoTheSameAsTheSwapsOneAfterAnother) {
    tests::Random random(7);
    for (int round = 0; round < 300; ++round) {
        const std::size_t first = random.between<std::size_t>(0, 6), width = random.between<std::size_t>(1, 5);
        const std::size_t rows = first + width + random.between<std::size_t>(0, 6);
        std::vector<std::size_t> expected(rows);
        std::iota(expected.begin(), expected.end(), 0);
        std::vector<double> pivots(width);
        for (std::size_t i = 0; i < width; ++i) {
            const std::size_t pivot = random.between(first + i, rows - 1);
            pivots[i] = static_cast<double>(pivot);
            std::swap(expected[first + i], expected[pivot]);
        }
        std::vector<std::size_t> moved(rows);
        std::iota(moved.begin(), moved.end(), 0);
        const RowMoves moves = moves_of(first, width, pivots.data());
        for (std::size_t i = 0; i < width; ++i) moved[first + i] = moves.into[i];
        for (const RowMoves::Move& move : moves.out) {
            EXPECT_TRUE(move.from >= first && move.from < first + width) << "only rows of the block go out";
            moved[move.to] = move.from;
        }
        ASSERT_EQ(moved, expected);
    }
}

TEST(LocalMoves, TogetherAreAllMoves) {
    tests::Random random(8);
    const BlockMap map = BlockMap::cyclic(23, 3, 3);
    for (int round = 0; round < 100; ++round) {
        std::vector<double> pivots(3);
        for (std::size_t i = 0; i < 3; ++i) pivots[i] = static_cast<double>(random.between<std::size_t>(6 + i, 22));
        const RowMoves moves = moves_of(6, 3, pivots.data());
        std::size_t into = 0, out = 0;
        for (int row = 0; row < 3; ++row) {
            const LocalMoves mine = local_moves(moves, map, row);
            for (const LocalMoves::Row& move : mine.into) {
                EXPECT_EQ(map.global_of(row, move.here), moves.into[move.other]);
                ++into;
            }
            for (const LocalMoves::Row& move : mine.out) {
                EXPECT_EQ(map.global_of(row, move.here), moves.out[move.other].to);
                ++out;
            }
        }
        EXPECT_EQ(into, moves.into.size());
        EXPECT_EQ(out, moves.out.size());
    }
}

} // namespace
} // namespace kumiki::linpack
