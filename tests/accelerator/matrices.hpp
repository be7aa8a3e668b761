#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "accelerator/device.hpp"
#include "support/random.hpp"

namespace kumiki::accelerator {

/// A matrix by rows in the memory of a test, with elements around 0.
struct Matrix {
    Matrix(std::size_t row_count, std::size_t column_count, std::uint64_t seed)
        : rows(row_count), columns(column_count), elements(rows * columns) {
        tests::Random random(seed);
        for (double& element : elements)
            element = static_cast<double>(random.word() >> 11) * 0x1p-52 - 1; // between -1 and 1
    }
    double& at(std::size_t row, std::size_t column) { return elements[row * columns + column]; }
    double at(std::size_t row, std::size_t column) const { return elements[row * columns + column]; }
    Extent extent() const { return {rows, columns}; }

    std::size_t rows, columns;
    std::vector<double> elements;
};

/// alpha A B + beta C, element by element.
inline Matrix textbook(double alpha, const Matrix& a, const Matrix& b, double beta, const Matrix& c) {
    Matrix result = c;
    for (double& element : result.elements) element = beta == 0 ? 0 : beta * element;
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t k = 0; k < a.columns; ++k)
            for (std::size_t j = 0; j < b.columns; ++j) result.at(i, j) += alpha * a.at(i, k) * b.at(k, j);
    return result;
}

inline void expect_near(const Matrix& actual, const Matrix& expected, double depth) {
    ASSERT_EQ(actual.elements.size(), expected.elements.size());
    double largest = 0;
    for (std::size_t i = 0; i < actual.elements.size(); ++i) {
        const double difference = std::abs(actual.elements[i] - expected.elements[i]);
        if (!(difference <= largest)) largest = difference; // also where it is no number
    }
    EXPECT_LE(largest, 1e-13 * std::sqrt(depth));
}

} // namespace kumiki::accelerator
