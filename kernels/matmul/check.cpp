#include "kernels/matmul/check.hpp"

#include "kernels/matmul/matrix.hpp"

namespace kumiki::kernels::matmul {

namespace {

const Entries random_source{0x243f6a8885a308d3u};

std::vector<double> times(const Entries& matrix, std::span<const double> x) {
    std::vector<double> product(x.size(), 0.0);
    for (std::size_t row = 0; row < x.size(); ++row)
        for (std::size_t column = 0; column < x.size(); ++column) product[row] += matrix.at(row, column) * x[column];
    return product;
}

} // namespace

Check::Check(std::size_t size) : size_(size), x_(size) {
    // Magnitudes between 1/2 and 1: large enough that no wrong entry can be hidden.
    for (std::size_t i = 0; i < size; ++i) {
        const double fraction = random_source.at(0, i);
        x_[i] = fraction < 0 ? fraction - 0.5 : fraction + 0.5;
    }
}

void Check::add(Range rows, Range columns, const double* block, std::size_t leading, std::span<double> product) const {
    for (std::size_t row = rows.begin; row < rows.end; ++row, block += leading)
        for (std::size_t column = columns.begin; column < columns.end; ++column)
            product[row] += block[column - columns.begin] * x_[column];
}

bool Check::passes(std::span<const double> product) const {
    const std::vector<double> expected = times(matrix_a, times(matrix_b, x_));
    for (std::size_t row = 0; row < size_; ++row)
        if (!(product[row] == expected[row])) return false;
    return product.size() == size_;
}

} // namespace kumiki::kernels::matmul
