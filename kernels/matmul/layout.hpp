#pragma once

#include <cstddef>
#include <vector>

#include "kernels/common/grid.hpp"
#include "kernels/common/range.hpp"

namespace kumiki::kernels::matmul {

/// Rows x columns of a matrix.
struct Block {
    Range rows, columns;
};
/// The block of a rows x columns matrix that belongs to a place of the grid.
Block block_at(const Grid& grid, std::size_t place, std::size_t rows, std::size_t columns);

/// One step of SUMMA: a part of the common dimension of A and B that belongs entirely to one column of ranks (A) and
/// one row of ranks (B).
struct Panel {
    Range depth;
    std::size_t a_column, b_row; ///< in the grid
};
/// The panels that cut 0 .. size, each at most `width` deep (0: as deep as possible).
std::vector<Panel> panels_of(std::size_t size, const Grid& grid, std::size_t width);

/// The same panels in the order that suits a rank in this row of the grid: first those whose part of B is its own. So
/// the ranks of a column do not all fetch from one owner at the same time, and the first step rarely waits for data.
std::vector<Panel> beginning_at_row(std::vector<Panel> panels, std::size_t row);

} // namespace kumiki::kernels::matmul
