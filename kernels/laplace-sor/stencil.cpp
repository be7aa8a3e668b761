#include "kernels/laplace-sor/stencil.hpp"

#include "kernels/common/simd.hpp"

namespace kumiki::kernels::laplace_sor {

double relax(const ColouredLine& line, double relaxation) {
    const auto [own, above, below, beside, count, step] = line;
    const double quarter = relaxation / 4;
    return largest_of(count, step, [=](std::size_t i) {
        const double sum = above[i] + below[i] + (beside[i] + beside[i + 1]);
        const double change = quarter * sum - relaxation * own[i];
        own[i] += change;
        return std::abs(change);
    });
}

} // namespace kumiki::kernels::laplace_sor
