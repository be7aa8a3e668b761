#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/range.hpp"

namespace kumiki::kernels::matmul {

/// The largest size for which every step of product and check is exact (see Entries and Check).
inline constexpr std::size_t largest_size = 32768;

/// The entries of a random matrix, each computed from its position by a counter-based generator: any rank can compute
/// any part of it.
///
/// Entries are multiples of 2^-8 in [-1/2, 1/2]. So a product of two is a multiple of 2^-16, and a sum of at most 2^15
/// of them needs 29 bits: it is exact in double precision whatever the order of the additions. All forms must agree to
/// the last bit.
class Entries {
public:
    explicit Entries(std::uint64_t seed) : seed_(seed) {}

    double at(std::size_t row, std::size_t column) const {
        return (static_cast<double>(random_bits(row, column) >> 56) - 128.0) / 256.0;
    }
    /// The rows x columns part of the matrix, column after column.
    void fill_by_columns(Range rows, Range columns, double* to) const;
    /// The same, row after row.
    void fill_by_rows(Range rows, Range columns, double* to) const;

private:
    std::uint64_t random_bits(std::size_t row, std::size_t column) const;

    std::uint64_t seed_;
};

/// The operands of C = A x B. A is stored by columns and B by rows, so that a panel of either, a part of the common
/// dimension, is one contiguous piece of memory and can be sent as such. C is stored by rows.
inline const Entries matrix_a{0x1234567890abcdefu};
inline const Entries matrix_b{0x0fedcba098765432u};

} // namespace kumiki::kernels::matmul
