#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "kernels/cavity/problem.hpp"
#include "kernels/common/red_black.hpp"

namespace kumiki::kernels::cavity {

/// Velocities of a tile of cells, and of those around it, on a staggered grid: u(row)[i] crosses the face between the
/// cells i and i + 1 of a row, v(row)[i] the one between the rows `row` and `row` + 1. Here columns are counted from
/// the one before the tile's own.
class Velocities {
public:
    /// All 0. `memory` is where they are: storage_length() elements or none.
    explicit Velocities(const Tile& own, std::span<double> memory = {});
    static std::size_t storage_length(const Tile& own) {
        return 2 * (own.rows.size() + 2) * pitch_of(own.columns.size());
    }

    /// The number of elements of the longest edge of a tile: a row with its ghosts, or a column, of both velocities.
    static std::size_t longest_edge(const Tile& tile) {
        return 2 * std::max(pitch_of(tile.columns.size()), tile.rows.size());
    }
    double* u(std::size_t row) { return &values_[2 * (row + 1 - own_.rows.begin) * pitch_]; }
    double* v(std::size_t row) { return u(row) + pitch_; }

    /// The values that the neighbour on that side needs; valid until the next call for that side. Edges north and south
    /// include the ghosts west and east of them.
    std::span<const double> edge(Side side);
    /// Stores the neighbour's edge.
    void accept(Side side, const double* edge);

private:
    static std::size_t pitch_of(std::size_t columns) {
        constexpr std::size_t line = line_bytes / sizeof(double);
        return (columns + 2 + line - 1) / line * line;
    }

    Tile own_;
    std::size_t pitch_;
    Storage<double> values_;                      ///< by row: all u, then all v
    std::array<AlignedVector<double>, 2> packed_; ///< the edges west and east
};

/// One worker's tile of the flow, and the operations on it in a time step (Harlow and Welch's marker-and-cell method,
/// without markers): tentative velocities, as if there were no pressure; the pressure that makes them free of
/// divergence, by red-black over-relaxation; and their correction by its gradient. Rows and columns are counted from 1;
/// those beyond the tile's edges belong to the neighbours, or are beyond the walls.
class Flow {
public:
    /// `memory` is where velocities and pressures are: storage_length() elements or none.
    Flow(const Problem& problem, const Tile& own, std::span<double> memory = {});
    static std::size_t storage_length(const Tile& own) {
        return 2 * Velocities::storage_length(own) + RedBlackTile::storage_length(own);
    }

    const Tile& own() const { return own_; }
    Velocities& velocities() { return velocities_; }
    Velocities& tentative() { return tentative_; }
    RedBlackTile& pressure() { return pressure_; }

    /// Sets the initial state: at rest, without pressure.
    void reset();
    /// Requires the neighbours' velocities, including corners.
    void make_tentative();
    /// Requires the neighbours' tentative velocities. Sets the right side of the pressure equation: the sum over a
    /// cell's neighbours of how much higher their pressure is.
    void make_source();
    /// Over-relaxes the pressure of the cells of a colour in a part of a row or column.
    void relax(Colour colour, const Tile& part);
    /// Requires the neighbours' pressure. Returns the largest change of a velocity.
    double correct();
    /// The divergence of a cell. Requires the neighbours' velocities.
    double divergence(std::size_t row, std::size_t column);

private:
    std::size_t columns() const { return own_.columns.size(); }
    /// The number of faces within a row that velocities cross: none in the wall behind the last cell.
    std::size_t faces() const { return std::min(own_.columns.end, problem_.cells()) - own_.columns.begin; }
    /// The position of the first point of a colour in a row.
    std::size_t first_in_row(Colour colour, std::size_t row) const {
        return RedBlackTile::first_of(colour, row, own_.columns.begin) + 1 - own_.columns.begin;
    }
    void set_walls();
    void make_tentative_u(std::size_t row);
    void make_tentative_v(std::size_t row);
    void copy_pressure(std::size_t row, std::span<double> plain);

    Problem problem_;
    Tile own_;
    Velocities velocities_, tentative_;
    RedBlackTile pressure_, source_;
    RedBlackTile weights_; ///< relaxation divided by the number of neighbours; walls are not neighbours
    AlignedVector<double> pressures_, pressures_above_; ///< of two rows, colours together, as velocities are counted
};

} // namespace kumiki::kernels::cavity
