#pragma once

#include <cstddef>

namespace kumiki::kernels::laplace {

/// One row of a Jacobi step, the inner kernel of every form: `columns` cells from the old rows `north` of,
/// at, and `south` of it. here[-1] and here[columns] are read. `next` may be `north` or `south` itself (each cell is
/// read before it is written), but must not overlap them otherwise, nor `here`: hence the pragma, since `restrict`
/// would promise too much.
inline void relax_row(double* next, const double* north, const double* here, const double* south, std::size_t columns) {
#pragma GCC ivdep
    for (std::size_t column = 0; column < columns; ++column)
        next[column] = 0.25 * ((north[column] + south[column]) + (*(here + column - 1) + here[column + 1]));
}

} // namespace kumiki::kernels::laplace
