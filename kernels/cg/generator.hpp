#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cg/problem.hpp"
#include "kernels/cg/rows.hpp"
#include "kernels/common/range.hpp"

namespace kumiki::kernels::cg {

/// The benchmark's matrix before it is multiplied out: A = sum over i of w_i x_i x_i^T + (0.1 - shift) I, with sparse
/// random vectors x_i and weights w_i that fall geometrically from 1 to 0.1. Every rank and thread has the vectors and
/// multiplies out its own rows.
class Generator {
public:
    explicit Generator(const Problem& problem);

    /// Cuts the rows into `parts` contiguous parts with about equally many nonzeros.
    std::vector<Range> balanced_rows(int parts) const;

    /// Multiplies out those rows of the matrix.
    Rows multiply_out(Range rows) const;

private:
    struct Entry {
        std::uint32_t index;
        double value;
    };
    /// A vector that has a nonzero in a row, and that nonzero.
    struct Occurrence {
        std::uint32_t vector;
        double value;
    };

    std::span<const Entry> vector(std::size_t i) const {
        return std::span(entries_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
    }
    std::vector<std::vector<Occurrence>> occurrences(Range rows) const;

    Problem problem_;
    std::vector<Entry> entries_;      ///< of all vectors, one after another
    std::vector<std::size_t> begins_; ///< of each vector in entries_, and the end
    std::vector<double> weights_;
};

} // namespace kumiki::kernels::cg
