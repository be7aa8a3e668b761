#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/range.hpp"

namespace kumiki::kernels::cg {

/// Some contiguous rows of a sparse square matrix, compressed: for each row its nonzeros and their columns.
///
/// The speed of the product with a vector is limited by the stream of values and columns from the cache or memory. So a
/// column is 16 bits wide if that is enough (orders up to 65536), which saves a sixth of the stream, and rows are
/// filled up with zeros to whole vector registers.
class Rows {
public:
    /// No nonzeros yet; `order` is the number of columns of the matrix.
    Rows(Range rows, std::size_t order);

    /// Adds the next row: ascending columns and their values.
    void append(std::span<const std::uint32_t> columns, std::span<const double> values);

    Range range() const { return rows_; }
    /// The number of nonzeros, without the zeros that fill up rows.
    std::size_t nonzeros() const { return nonzeros_; }

    /// result[i] = row number range().begin + i times `vector`. The length of `vector` is the order of the matrix;
    /// `result` has one element per row.
    void multiply(std::span<const double> vector, std::span<double> result) const;
    /// The same, but added to `result`.
    void multiply_add(std::span<const double> vector, std::span<double> result) const;

    /// The same rows without the elements in these columns, or with only those.
    Rows only(Range columns) const;
    Rows without(Range columns) const;

private:
    template <class Keep>
    Rows kept(Keep keep) const;
    template <class Take>
    void for_products(std::span<const double> vector, Take take) const;

    using NarrowColumns = AlignedVector<std::uint16_t>;
    using WideColumns = AlignedVector<std::uint32_t>;

    Range rows_;
    std::size_t order_;
    std::size_t nonzeros_ = 0;
    std::vector<std::size_t> begins_{0};
    std::variant<NarrowColumns, WideColumns> columns_;
    AlignedVector<double> values_;
};

} // namespace kumiki::kernels::cg
