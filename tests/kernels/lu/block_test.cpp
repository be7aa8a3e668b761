#include "kernels/lu/block.hpp"

#include <gtest/gtest.h>

#include "kernels/common/aligned.hpp"

namespace kumiki::kernels::lu {
namespace {

using Block = AlignedVector<double>;

/// A block of random numbers whose diagonal is large enough for a factorisation.
Block random_block(std::size_t size, std::size_t place) {
    const Problem problem{4 * size, size};
    Block block(size * size);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = problem.element(i / size, place * size + i % size);
    return block;
}

Block product(const Block& left, const Block& right, std::size_t size) {
    Block made(size * size);
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t column = 0; column < size; ++column)
            for (std::size_t k = 0; k < size; ++k)
                made[row * size + column] += left[row * size + k] * right[k * size + column];
    return made;
}

/// One factor of a factorised block: L with its diagonal, or U.
Block factor(const Block& both, std::size_t size, bool lower) {
    Block made(size * size);
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t column = 0; column < size; ++column) {
            const bool counts = lower ? column < row : column >= row;
            made[row * size + column] = counts ? both[row * size + column] : lower && row == column ? 1.0 : 0.0;
        }
    return made;
}

void expect_near(const Block& found, const Block& wanted, double tolerance) {
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], tolerance) << "element " << i;
}

class OnBlocks : public testing::TestWithParam<std::size_t> {
protected:
    std::size_t size = GetParam();
    Block diagonal = random_block(size, 0), other = random_block(size, 1);
    double tolerance = 1e-13 * static_cast<double>(size);
};

TEST_P(OnBlocks, factors_multiplied_are_the_block) {
    Block factors = diagonal;
    factorise(factors.data(), size);
    expect_near(product(factor(factors, size, true), factor(factors, size, false), size), diagonal, tolerance);
}

TEST_P(OnBlocks, solutions_multiplied_by_their_factor_are_the_block) {
    Block factors = diagonal, right = other, below = other;
    factorise(factors.data(), size);
    solve_lower(factors.data(), right.data(), size);
    expect_near(product(factor(factors, size, true), right, size), other, tolerance);
    solve_upper(factors.data(), below.data(), size);
    expect_near(product(below, factor(factors, size, false), size), other, tolerance);
}

TEST_P(OnBlocks, a_product_is_subtracted) {
    const Block left = random_block(size, 2), above = random_block(size, 3);
    Block found = other, wanted = other;
    subtract_product(left.data(), above.data(), found.data(), size);
    const Block all = product(left, above, size);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] -= all[i];
    expect_near(found, wanted, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OnBlocks, testing::Values(8, 16, 24, 64));

} // namespace
} // namespace kumiki::kernels::lu
