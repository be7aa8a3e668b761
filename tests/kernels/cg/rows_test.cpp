#include "kernels/cg/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kumiki::kernels::cg {
namespace {

/// Orders up to 65536 have narrow columns, larger ones wide ones.
class RowsTest : public testing::TestWithParam<std::size_t> {};

TEST_P(RowsTest, multiply_like_their_definition) {
    const std::size_t order = GetParam();
    std::mt19937 random(5);
    AlignedVector<double> vector(order);
    for (double& element : vector) element = static_cast<double>(random() % 100);
    // Lengths near the width of a vector register, and empty rows.
    const std::vector<std::size_t> lengths{1, 7, 8, 9, 0, 16, 25, 3};
    Rows rows({10, 10 + lengths.size()}, order);
    std::vector<double> expected;
    std::size_t nonzeros = 0;
    for (const std::size_t length : lengths) {
        std::vector<std::uint32_t> columns;
        std::vector<double> values;
        double sum = 0.0;
        for (std::size_t k = 0; k < length; ++k) {
            const std::size_t least = k * (order / 25),
                              most = (k + 1) * (order / 25) - 1; // ascending, up to the last one
            columns.push_back(static_cast<std::uint32_t>(k % 2 == 0 ? most : least));
            values.push_back(static_cast<double>(random() % 100));
            sum += values.back() * vector[columns.back()];
        }
        rows.append(columns, values);
        expected.push_back(sum);
        nonzeros += length;
    }
    EXPECT_EQ(rows.nonzeros(), nonzeros);
    std::vector<double> result(lengths.size(), -1.0);
    rows.multiply(vector, result);
    EXPECT_EQ(result, expected); // sums of small integers are exact in any order

    const Range some{order / 5, order / 2};
    const Rows inside = rows.only(some), outside = rows.without(some);
    EXPECT_EQ(inside.nonzeros() + outside.nonzeros(), nonzeros);
    EXPECT_GT(std::min(inside.nonzeros(), outside.nonzeros()), 0u);
    inside.multiply(vector, result);
    outside.multiply_add(vector, result);
    EXPECT_EQ(result, expected);
    for (std::size_t column = some.begin; column < some.end; ++column) vector[column] = 0.0;
    inside.multiply(vector, result);
    EXPECT_EQ(result, std::vector(lengths.size(), 0.0)) << "nothing outside is left";
}

INSTANTIATE_TEST_SUITE_P(Orders, RowsTest, testing::Values(100, 65525, 65550, 1'000'000));

TEST(Rows, tell_the_last_narrow_column_from_the_first) {
    for (const std::size_t order : {std::size_t{65536}, std::size_t{65537}}) {
        AlignedVector<double> vector(order, 0.0);
        vector.front() = 1.0;
        vector.back() = 2.0;
        Rows rows({0, 1}, order);
        rows.append(std::vector<std::uint32_t>{static_cast<std::uint32_t>(order - 1)}, std::vector<double>{3.0});
        std::vector<double> result(1);
        rows.multiply(vector, result);
        EXPECT_EQ(result.front(), 6.0) << order;
    }
}

} // namespace
} // namespace kumiki::kernels::cg
