#include "kernels/laplace-sor/stencil.hpp"

namespace kumiki::kernels::laplace_sor {

double relax(const HalfRow& row, double relaxation) {
    double* const own = row.own;
    const double *const above = row.above, *const below = row.below, *const beside = row.beside;
    const double quarter = relaxation / 4;
    double largest = 0;
    // No promise that nothing overlaps (`restrict`) would be true; that points of one colour are independent is.
#pragma omp simd reduction(max : largest)
    for (std::size_t k = 0; k < row.count; ++k) {
        const double sum = above[k] + below[k] + (beside[k] + beside[k + 1]);
        const double change = quarter * sum - relaxation * own[k], size = std::abs(change);
        own[k] += change;
        largest = size > largest ? size : largest;
    }
    return largest;
}

} // namespace kumiki::kernels::laplace_sor
