#pragma once

#include <cstddef>

#include "kernels/common/blas_library.hpp"

namespace kumiki::kernels::matmul {

/// A matrix in memory, or a part of one: where it begins and how far its columns (A) or rows (B, C) lie apart.
struct Operand {
    const double* data;
    std::size_t leading;
};

/// c[rows x columns] = a x b, or += when `accumulate`; a is rows x depth by columns, b is depth x columns by rows, c by
/// rows, `c_leading` apart.
void multiply(std::size_t rows, std::size_t columns, std::size_t depth, Operand a, Operand b, double* c,
              std::size_t c_leading, bool accumulate);

} // namespace kumiki::kernels::matmul
