#include "kernels/lu/block.hpp"

#include <array>

namespace kumiki::kernels::lu {
namespace {

constexpr std::size_t step = Problem::block_step;

/// As many numbers as the widest vector register has; the compiler divides it where registers are shorter.
using Vector [[gnu::vector_size(step * sizeof(double))]] = double;

/// row[i] -= factor * other[i] for i from `begin` to `end`.
[[gnu::always_inline]] inline void subtract(double* __restrict row, double factor, const double* __restrict other,
                                            std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) row[i] -= factor * other[i];
}

} // namespace

void factorise(double* block, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) {
        const double inverse = 1 / block[k * size + k];
        for (std::size_t i = k + 1; i < size; ++i) {
            const double factor = block[i * size + k] *= inverse;
            subtract(block + i * size, factor, block + k * size, k + 1, size);
        }
    }
}

void solve_lower(const double* diagonal, double* block, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k)
        for (std::size_t i = k + 1; i < size; ++i)
            subtract(block + i * size, diagonal[i * size + k], block + k * size, 0, size);
}

void solve_upper(const double* diagonal, double* block, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) {
        const double inverse = 1 / diagonal[k * size + k];
        for (std::size_t i = 0; i < size; ++i) {
            const double factor = block[i * size + k] *= inverse;
            subtract(block + i * size, factor, diagonal + k * size, k + 1, size);
        }
    }
}

void subtract_product(const double* left, const double* above, double* block, std::size_t size) {
    for (std::size_t row = 0; row < size; row += step)
        for (std::size_t column = 0; column < size; column += step) {
            // step rows of one vector each: they stay in registers while all of the depth is added up.
            std::array<Vector, step> sums{};
            for (std::size_t k = 0; k < size; ++k) {
                const Vector part = *reinterpret_cast<const Vector*>(above + k * size + column);
#pragma GCC unroll 8
                for (std::size_t i = 0; i < step; ++i) sums[i] += left[(row + i) * size + k] * part;
            }
#pragma GCC unroll 8
            for (std::size_t i = 0; i < step; ++i)
                *reinterpret_cast<Vector*>(block + (row + i) * size + column) -= sums[i];
        }
}

} // namespace kumiki::kernels::lu
