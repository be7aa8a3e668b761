#pragma once

#include <cstddef>

namespace kumiki::kernels {

/// A grid of ranks or workers over a matrix, or of tiles over a block.
struct Grid {
    std::size_t rows = 1, columns = 1;

    /// The grid of `count` places that is nearest to a square and not wider than high: a shorter border means less data
    /// to fetch, and flat tiles suit a row-wise product better than narrow ones (with OpenBLAS, 8 x 1 tiles lose
    /// nothing compared with one tile, and 1 x 8 tiles lose a quarter).
    static constexpr Grid near_square(std::size_t count) {
        Grid grid{count, 1};
        for (std::size_t columns = 1; columns * columns <= count; ++columns)
            if (count % columns == 0) grid = {count / columns, columns};
        return grid;
    }
    std::size_t count() const { return rows * columns; }
    std::size_t row_of(std::size_t place) const { return place / columns; }
    std::size_t column_of(std::size_t place) const { return place % columns; }
    std::size_t place(std::size_t row, std::size_t column) const { return row * columns + column; }
};

} // namespace kumiki::kernels
