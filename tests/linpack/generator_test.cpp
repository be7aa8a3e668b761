#include "linpack/generator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kumiki::linpack {
namespace {

/// The sequence, computed one number after another, column by column, as HPL's documentation describes it.
std::vector<double> by_columns(std::size_t rows, std::size_t columns) {
    std::vector<double> all;
    std::uint64_t state = 100;
    while (all.size() < rows * columns) {
        state = state * ((std::uint64_t{1481765933} << 32) + 1284865837) + 1;
        all.push_back(0.5 - static_cast<double>(state) / 18446744073709551616.0);
    }
    return all;
}

TEST(Generator, MakesEveryPieceOfARowAsTheWholeMatrixHasIt) {
    for (const std::size_t rows : {1u, 2u, 5u, 29u}) {
        const std::size_t columns = rows + 1;
        const std::vector<double> whole = by_columns(rows, columns);
        const Generator generator(rows);
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; column += 3) {
                std::vector<double> piece(columns - column);
                generator.fill(row, column, piece.size(), piece.data());
                for (std::size_t i = 0; i < piece.size(); ++i)
                    ASSERT_EQ(piece[i], whole[(column + i) * rows + row]) << rows << ": " << row << ", " << column + i;
            }
    }
}

TEST(Generator, ReachesElementsOfAMatrixThatFitsIntoNoMemory) {
    double value = 0;
    Generator(1 << 30).fill((1 << 30) - 1, 1 << 30, 1, &value);
    EXPECT_GT(value, -0.5);
    EXPECT_LE(value, 0.5);
}

} // namespace
} // namespace kumiki::linpack
