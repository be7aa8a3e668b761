#pragma once

#include <cstddef>
#include <span>

#include "kernels/cavity/problem.hpp"
#include "kernels/common/red_black.hpp"

namespace kumiki::kernels::cavity {

/// Velocities of contiguous rows of cells, and of the row before and after, on a staggered grid: u(row, i) crosses the
/// face between the cells i and i + 1 of a row, v(row, i) the one between the rows `row` and `row` + 1.
class Velocities {
public:
    Velocities(Range own, std::size_t cells)
        : first_(own.begin - 1), pitch_(pitch_of(cells)), values_(2 * (own.size() + 2) * pitch_) {}

    /// Elements of a row, of both velocities.
    static std::size_t row_length(std::size_t cells) { return 2 * pitch_of(cells); }
    std::span<double> row(std::size_t row) {
        return std::span(values_).subspan(2 * (row - first_) * pitch_, 2 * pitch_);
    }
    double* u(std::size_t row) { return &values_[2 * (row - first_) * pitch_]; }
    double* v(std::size_t row) { return u(row) + pitch_; }

private:
    static std::size_t pitch_of(std::size_t cells) {
        constexpr std::size_t line = line_bytes / sizeof(double);
        return (cells + 2 + line - 1) / line * line;
    }

    std::size_t first_, pitch_;
    AlignedVector<double> values_; ///< by row: all u, then all v
};

/// One worker's rows of the flow, and what it does with them in a time step (Harlow and Welch's marker-and-cell method,
/// without markers): tentative velocities, as if there were no pressure; the pressure that makes them free of
/// divergence, by red-black over-relaxation; and their correction by its gradient. Rows are counted from 1; the row
/// before the first and after the last are the neighbours', or beyond the walls.
class Flow {
public:
    Flow(const Problem& problem, Range own);

    Range own() const { return own_; }
    Velocities& velocities() { return velocities_; }
    Velocities& tentative() { return tentative_; }
    RedBlackTile& pressure() { return pressure_; }

    /// At rest, without pressure.
    void reset();
    /// Needs the neighbours' velocities.
    void make_tentative();
    /// Needs the neighbours' tentative velocities. Sets the right side of the pressure's equation: the sum over a
    /// cell's neighbours of how much higher their pressure is.
    void make_source();
    /// Over-relaxes the pressure of the cells of a colour in a part of a row or column.
    void relax(Colour colour, const Tile& part);
    /// Needs the neighbours' pressure. Returns how far the velocity that changed most did.
    double correct();
    /// Of a row's cells, the largest. Needs the velocities of the row before.
    double divergence(std::size_t row);

private:
    Tile row(std::size_t row) const { return {{row, row + 1}, tile_.columns}; }
    void set_walls();
    void make_tentative_u(std::size_t row);
    void make_tentative_v(std::size_t row);
    std::span<const double> plain_pressure(std::size_t row, std::span<double> plain);

    Problem problem_;
    Range own_;
    Tile tile_;
    Velocities velocities_, tentative_;
    RedBlackTile pressure_, source_;
    RedBlackTile weights_;                              ///< relaxation over the number of neighbours: walls are none
    AlignedVector<double> pressures_, pressures_above_; ///< of two rows, colours together
};

} // namespace kumiki::kernels::cavity
