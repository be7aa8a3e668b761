#pragma once

#include <cstddef>

#include "linpack/block_map.hpp"

namespace kumiki::linpack {

/// A block column, factored or being factored, at one rank of the process column that owns it. All by rows, `lead`
/// elements from row to row.
struct Panel {
    double* top; ///< the pivot rows, `width` of them: L11 below the diagonal, U11 on and above it
    double*
        pivots;   ///< row i of the panel was swapped with row pivots[i] of the matrix (a double holds any such number)
    double* rows; ///< this rank's rows from the block's own rows on; after factorisation those below hold L21
    std::size_t lead; ///< elements from row to row
};

/// What a step of the factorisation is about: block column `step`, and where it begins at this rank.
struct StepShape {
    std::size_t step = 0;
    std::size_t first = 0;    ///< the first row (and column) of the block
    std::size_t width = 0;    ///< columns of the block
    std::size_t row = 0;      ///< this rank's first row that is not above the block
    std::size_t rows = 0;     ///< this rank's rows from there on
    std::size_t own_rows = 0; ///< how many of these are rows of the block itself: `width` at its owner, else 0
    int owner_row = 0;        ///< the process row that has the block's rows
    int owner_column = 0;     ///< the process column that has the block's columns

    bool owns_rows() const { return own_rows != 0; }
};

/// The shape of step `step` for a rank in process row `row` of an N x (N + 1) matrix, N = rows.length().
inline StepShape shape_of(std::size_t step, const BlockMap& rows, const BlockMap& columns, int row) {
    StepShape shape;
    shape.step = step;
    shape.first = rows.begin(step);
    shape.width = rows.width(step);
    shape.row = rows.local_begin(row, step);
    shape.rows = rows.local_length(row) - shape.row;
    shape.own_rows = rows.local_begin(row, step + 1) - shape.row;
    shape.owner_row = rows.owner(step);
    shape.owner_column = columns.owner(step);
    return shape;
}

} // namespace kumiki::linpack
