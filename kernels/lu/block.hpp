#pragma once

#include <cstddef>

#include "kernels/lu/problem.hpp"

// The operations on blocks, the inner kernels of every form: `size` x `size` numbers, row after row, the first of which
// is at the beginning of a cache line. `size` is a multiple of Problem::block_step. Blocks do not overlap.

namespace kumiki::kernels::lu {

/// block = L x U, in place: L, whose diagonal is 1, below the diagonal, and U on and above it.
void factorise(double* block, std::size_t size);

/// block = L^-1 x block, with L of a factorised diagonal block: the blocks to its right.
void solve_lower(const double* diagonal, double* block, std::size_t size);

/// block = block x U^-1, with U of a factorised diagonal block: the blocks below it.
void solve_upper(const double* diagonal, double* block, std::size_t size);

/// block -= left x above.
void subtract_product(const double* left, const double* above, double* block, std::size_t size);

} // namespace kumiki::kernels::lu
