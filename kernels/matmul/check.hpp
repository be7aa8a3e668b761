#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/range.hpp"

namespace kumiki::kernels::matmul {

/// Freivalds' check of C = A x B: for a random vector x, C x must equal A(Bx), which costs size^2 instead of size^3.
///
/// The comparison is exact. Entries are multiples of 2^-8 up to 1/2, and the elements of x are multiples of 2^-8 up to
/// 1, so A(Bx) and C x are multiples of 2^-24 below 2^(2n-2) for size 2^n: 2n + 22 bits, which fit a double up to n =
/// 15. Every sum on the way is exact, in any order, and a correct product always passes. A product with one wrong entry
/// in a row always fails (no element of x is 0); with several, it passes only if their differences happen to be
/// orthogonal to the random x.
class Check {
public:
    explicit Check(std::size_t size);

    /// Adds a rank's contribution for its block of C (stored by rows, `leading` apart): (C x)[row] += the block's part
    /// of the row times x.
    void add(Range rows, Range columns, const double* block, std::size_t leading, std::span<double> product) const;
    /// Whether C x, summed up over all blocks, equals A(Bx).
    bool passes(std::span<const double> product) const;

private:
    std::size_t size_;
    std::vector<double> x_;
};

} // namespace kumiki::kernels::matmul
