#pragma once

#include <cstddef>

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

/// The name of the CBLAS library in use: "openblas", "mkl", "blis", or "cblas" when it is none that we know.
const char* blas_name();

/// Sets how many threads the library uses for one call, if it is one that we know how to tell.
void set_blas_threads(int threads);

/// What the reader of a row should know of the library; empty for one that we know.
const char* blas_note();

} // namespace kumiki::kernels::matmul
