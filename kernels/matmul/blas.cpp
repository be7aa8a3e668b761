#include "kernels/matmul/blas.hpp"

#include <cblas.h>

namespace kumiki::kernels::matmul {

void multiply(std::size_t rows, std::size_t columns, std::size_t depth, Operand a, Operand b, double* c,
              std::size_t c_leading, bool accumulate) {
    if (rows == 0 || columns == 0 || depth == 0) return;
    const auto number = [](std::size_t value) { return static_cast<int>(value); };
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, number(rows), number(columns), number(depth), 1.0, a.data,
                number(a.leading), b.data, number(b.leading), accumulate ? 1.0 : 0.0, c, number(c_leading));
}

} // namespace kumiki::kernels::matmul
