#pragma once

#include <cstddef>

#include "kernels/common/blas_library.hpp"

namespace kumiki::kernels::matmul {

/// A matrix in memory, or a part of one: its beginning, and the distance between its columns (A) or rows (B, C).
struct Operand {
    const double* data;
    std::size_t leading;
};

/// c[rows x columns] = a x b, or += if `accumulate`. a has rows x depth elements, stored by columns; b has depth x
/// columns, stored by rows; c is stored by rows, `c_leading` apart.
void multiply(std::size_t rows, std::size_t columns, std::size_t depth, Operand a, Operand b, double* c,
              std::size_t c_leading, bool accumulate);

} // namespace kumiki::kernels::matmul
