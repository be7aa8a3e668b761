#pragma once

#include "kernels/matmul/task.hpp"

namespace kumiki::kernels::matmul {

/// Measures one product with the BLAS library's own threads and prints its rows, either as those of the form `library`
/// or as `bound.dgemm`, against which the forms are drawn; returns the exit code.
int measure_library(const Task& task);

} // namespace kumiki::kernels::matmul
