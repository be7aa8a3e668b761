#pragma once

#include <cstddef>
#include <vector>

#include "kernels/common/range.hpp"

namespace kumiki::kernels::matmul {

/// A grid of ranks over a matrix, or of tiles over a block.
struct Grid {
    std::size_t rows = 1, columns = 1;

    /// The grid of `count` places nearest to a square, not higher than wide: the less border, the less data to fetch.
    static Grid near_square(std::size_t count);
    std::size_t count() const { return rows * columns; }
    std::size_t row_of(std::size_t place) const { return place / columns; }
    std::size_t column_of(std::size_t place) const { return place % columns; }
    std::size_t place(std::size_t row, std::size_t column) const { return row * columns + column; }
};

/// Rows x columns of a matrix.
struct Block {
    Range rows, columns;
};
/// The block of a rows x columns matrix that belongs to a place of the grid.
Block block_at(const Grid& grid, std::size_t place, std::size_t rows, std::size_t columns);

/// One step of SUMMA: a part of the common dimension of A and B that lies whole in one column of ranks (A) and one row
/// of ranks (B).
struct Panel {
    Range depth;
    std::size_t a_column, b_row; ///< in the grid
};
/// The panels that cut 0 .. size, each at most `width` deep (0: as deep as they can be).
std::vector<Panel> panels_of(std::size_t size, const Grid& grid, std::size_t width);

/// The same panels in the order that suits a rank in this column of the grid: those whose part of A is its own come
/// first. So ranks of a row do not all fetch from one owner at the same time, and the first step seldom has to wait for
/// data.
std::vector<Panel> beginning_at_column(std::vector<Panel> panels, std::size_t column);

} // namespace kumiki::kernels::matmul
