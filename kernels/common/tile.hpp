#pragma once

#include "kernels/common/range.hpp"

namespace kumiki::kernels {

/// The directions of a tile's neighbours: north and south have the rows before and after, west and east the columns.
enum class Side { north, south, west, east };
inline constexpr int side_count = 4;
constexpr Side opposite(Side side) {
    switch (side) {
    case Side::north: return Side::south;
    case Side::south: return Side::north;
    case Side::west: return Side::east;
    case Side::east: break;
    }
    return Side::west;
}

/// Some rows and columns of a grid, counted from those of its border.
struct Tile {
    Range rows, columns;

    bool contains(std::size_t row, std::size_t column) const {
        return row >= rows.begin && row < rows.end && column >= columns.begin && column < columns.end;
    }
    /// The outermost row or column on that side.
    Tile edge(Side side) const {
        switch (side) {
        case Side::north: return {{rows.begin, rows.begin + 1}, columns};
        case Side::south: return {{rows.end - 1, rows.end}, columns};
        case Side::west: return {rows, {columns.begin, columns.begin + 1}};
        case Side::east: break;
        }
        return {rows, {columns.end - 1, columns.end}};
    }
    /// The row or column beyond it: the neighbour's edge, or the border.
    Tile beyond(Side side) const {
        switch (side) {
        case Side::north: return {{rows.begin - 1, rows.begin}, columns};
        case Side::south: return {{rows.end, rows.end + 1}, columns};
        case Side::west: return {rows, {columns.begin - 1, columns.begin}};
        case Side::east: break;
        }
        return {rows, {columns.end, columns.end + 1}};
    }
    /// The tile without its edge on that side; an empty tile is empty on every side.
    Tile without(Side side) const {
        Tile left = *this;
        if (rows.size() == 0 || columns.size() == 0) return left;
        switch (side) {
        case Side::north: ++left.rows.begin; break;
        case Side::south: --left.rows.end; break;
        case Side::west: ++left.columns.begin; break;
        case Side::east: --left.columns.end; break;
        }
        return left;
    }
    bool operator==(const Tile&) const = default;
};

/// Calls visit(line), each a row or column or a part of one, until all points of `outer` that are not in `inner` have
/// been visited.
template <class Visit>
void for_lines_between(const Tile& outer, const Tile& inner, Visit visit) {
    for (std::size_t row = outer.rows.begin; row < inner.rows.begin; ++row) visit(Tile{{row, row + 1}, outer.columns});
    for (std::size_t row = inner.rows.end; row < outer.rows.end; ++row) visit(Tile{{row, row + 1}, outer.columns});
    if (inner.rows.size() == 0) return;
    for (std::size_t column = outer.columns.begin; column < inner.columns.begin; ++column)
        visit(Tile{inner.rows, {column, column + 1}});
    for (std::size_t column = inner.columns.end; column < outer.columns.end; ++column)
        visit(Tile{inner.rows, {column, column + 1}});
}

} // namespace kumiki::kernels
