#include "kernels/cg/generator.hpp"

#include <gtest/gtest.h>

namespace kumiki::kernels::cg {
namespace {

constexpr Problem class_s = problems[0];

/// Row `row` of class S as a dense vector, computed as A^T e: column `row` of A, by multiplying with the unit vector.
AlignedVector<double> column(const Rows& matrix, std::size_t index) {
    AlignedVector<double> unit(class_s.order, 0.0), result(class_s.order);
    unit[index] = 1.0;
    matrix.multiply(unit, result);
    return result;
}

TEST(Generator, makes_as_many_nonzeros_as_the_benchmark) {
    EXPECT_EQ(Generator(problems[0]).multiply_out({0, problems[0].order}).nonzeros(), 78148u);
    EXPECT_EQ(Generator(problems[1]).multiply_out({0, problems[1].order}).nonzeros(), 508402u);
}

TEST(Generator, makes_a_symmetric_matrix) {
    const Rows matrix = Generator(class_s).multiply_out({0, class_s.order});
    for (const std::size_t i : {0u, 7u, 700u, 1399u}) {
        const auto column_i = column(matrix, i);
        for (std::size_t j = 0; j < class_s.order; j += 13)
            EXPECT_DOUBLE_EQ(column_i[j], column(matrix, j)[i]) << i << ", " << j;
    }
}

TEST(Generator, makes_the_same_rows_in_parts) {
    const Generator generator(class_s);
    const auto whole = column(generator.multiply_out({0, class_s.order}), 5);
    AlignedVector<double> unit(class_s.order, 0.0);
    unit[5] = 1.0;
    for (const Range rows : {Range{0, 1}, Range{1, 500}, Range{500, 500}, Range{500, 1400}}) {
        AlignedVector<double> part(rows.size());
        generator.multiply_out(rows).multiply(unit, part);
        for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(part[i], whole[rows.begin + i]);
    }
}

TEST(Generator, balances_nonzeros) {
    const Generator generator(problems[1]);
    for (const int parts : {2, 3, 8}) {
        const double even = 508402.0 / parts;
        for (const Range rows : generator.balanced_rows(parts))
            EXPECT_NEAR(static_cast<double>(generator.multiply_out(rows).nonzeros()), even, 0.02 * even);
    }
}

} // namespace
} // namespace kumiki::kernels::cg
