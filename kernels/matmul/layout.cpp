#include "kernels/matmul/layout.hpp"

#include <algorithm>

namespace kumiki::kernels::matmul {

Block block_at(const Grid& grid, std::size_t place, std::size_t rows, std::size_t columns) {
    return {share(rows, grid.rows, grid.row_of(place)), share(columns, grid.columns, grid.column_of(place))};
}

std::vector<Panel> panels_of(std::size_t size, const Grid& grid, std::size_t width) {
    if (width == 0) width = size;
    std::vector<Panel> panels;
    for (std::size_t begin = 0, a_column = 0, b_row = 0; begin < size;) {
        const Range a_part = share(size, grid.columns, a_column), b_part = share(size, grid.rows, b_row);
        const std::size_t end = std::min({begin + width, a_part.end, b_part.end});
        if (end > begin) panels.push_back({{begin, end}, a_column, b_row});
        begin = end;
        if (end == a_part.end) ++a_column;
        if (end == b_part.end) ++b_row;
    }
    return panels;
}

std::vector<Panel> beginning_at_row(std::vector<Panel> panels, std::size_t row) {
    const auto own = std::find_if(panels.begin(), panels.end(), [&](const Panel& panel) { return panel.b_row == row; });
    if (own != panels.end()) std::rotate(panels.begin(), own, panels.end());
    return panels;
}

} // namespace kumiki::kernels::matmul
