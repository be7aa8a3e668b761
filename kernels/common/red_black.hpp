#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/aligned.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tile_edges.hpp"

// Red-black successive over-relaxation: the points of a grid are coloured like a chessboard. The four neighbours of a
// point have the other colour, so all points of one colour can be computed at once.

namespace kumiki::kernels {

enum class Colour { red, black };
constexpr Colour other(Colour colour) { return colour == Colour::red ? Colour::black : Colour::red; }

/// The points of one colour on a line, which is a part of a row or a column, and the points of the other colour around
/// them: with i = k * step, those of own[i] are above[i], below[i], beside[i] and beside[i + 1].
struct ColouredLine {
    double* own;
    const double *above, *below, *beside;
    std::size_t count, step;
};

/// A tile of a grid, and the points beyond its edges, which are ghosts or the grid's border. The colours of a row are
/// stored separately, so that the points of a colour are adjacent in memory; point (row, column) is red if row + column
/// is even.
class RedBlackTile {
public:
    /// Sets all values to 0. `memory` is where they are: storage_length() elements or none.
    explicit RedBlackTile(const Tile& own, std::span<double> memory = {});
    static std::size_t storage_length(const Tile& own) { return 2 * (own.rows.size() + 2) * pitch_of(own); }

    const Tile& own() const { return own_; }
    double& at(std::size_t row, std::size_t column) {
        return *place(row % 2 == column % 2 ? Colour::red : Colour::black, row, column);
    }
    /// In row `across`, or column, the first column, or row, from `from` on that has a point of that colour; the next
    /// are two apart.
    static std::size_t first_of(Colour colour, std::size_t across, std::size_t from) {
        return from + (from % 2 == across % 2 ? colour == Colour::black : colour == Colour::red);
    }
    /// The points of a colour in a part of the tile that consists of one row or one column.
    ColouredLine line(Colour colour, const Tile& part) {
        const auto [row, column, count, step] = points(colour, part);
        const double* const around = place(other(colour), row, column);
        return {place(colour, row, column),
                around - 2 * pitch_,
                around + 2 * pitch_,
                around - (column % 2 == 0 ? 1 : 0),
                count,
                step};
    }

    /// Where this tile has the point that another of the same form has at `place`.
    const double* same_place(const RedBlackTile& form, const double* place) const {
        return values_.data() + (place - form.values_.data());
    }

    /// The points of a colour that the neighbour on that side needs; valid until the next call for that side.
    std::span<const double> edge(Colour colour, Side side);
    /// Stores the neighbour's edge.
    void accept(Colour colour, Side side, const double* edge);

private:
    /// Points of one colour: the position of the first, and their distance in memory.
    struct Points {
        std::size_t row, column, count, step;
    };
    Points points(Colour colour, const Tile& line) const {
        if (line.rows.size() == 1) {
            const std::size_t column = first_of(colour, line.rows.begin, line.columns.begin);
            return {line.rows.begin, column, (line.columns.end + 1 - column) / 2, 1};
        }
        const std::size_t row = first_of(colour, line.columns.begin, line.rows.begin);
        return {row, line.columns.begin, (line.rows.end + 1 - row) / 2, 4 * pitch_};
    }

    /// Where the point of that colour in columns `column` - `column` % 2 and the next lies.
    double* place(Colour colour, std::size_t row, std::size_t column) {
        const std::size_t half = 2 * (row + 1 - own_.rows.begin) + static_cast<std::size_t>(colour);
        return values_.data() + half * pitch_ + (column / 2 - first_pair_);
    }

    static std::size_t first_pair_of(const Tile& own) { return (own.columns.begin - 1) / 2; }
    static std::size_t pitch_of(const Tile& own);

    Tile own_;
    std::size_t first_pair_, pitch_;              ///< each pair of columns has one point of each colour
    Storage<double> values_;                      ///< by row, from the one before the own, and colour
    std::array<AlignedVector<double>, 2> packed_; ///< the edges west and east
};

/// Sweeps of the workers of a crew over their tiles of one grid. All ghosts must be up to date before a sweep, and are
/// so afterwards.
template <Crew C>
class RedBlackSweeps {
public:
    using Worker = typename C::Worker;

    /// Collective. Where sweeps end with the largest change of a point, it is looked at after so many of them, for that
    /// takes all workers. `cut` must outlive this.
    RedBlackSweeps(C& crew, const Cut& cut, std::size_t sweeps_between_looks = 10)
        : cut_(cut), edges_(crew, cut, cut.longest_line() / 2 + 1), between_looks_(sweeps_between_looks) {}

    /// Performs so many sweeps, at least one; compute(colour, line) computes the points of a colour in a part of a row
    /// or column.
    template <class Compute>
    void run_times(Worker& worker, RedBlackTile& tile, std::size_t sweeps, Compute compute) {
        for (std::size_t i = 0; i < sweeps; ++i) sweep(worker, tile, i == 0, compute);
        finish(worker, tile, Colour::black);
    }

    /// Sweeps until no point changes by more than `tolerance`, but not much more often than `most` times; relax(colour,
    /// line) computes the points of a colour in a part of a row or column and returns their largest change. Returns the
    /// number of sweeps. No decision depends on how the grid is cut.
    template <class Relax>
    std::size_t run_until(Worker& worker, RedBlackTile& tile, double tolerance, std::size_t most, Relax relax) {
        std::size_t sweeps = 0;
        for (bool more = true; more && sweeps < most;) {
            double change = 0;
            const auto compute = [&](Colour colour, const Tile& line) {
                change = std::max(change, relax(colour, line));
            };
            for (std::size_t i = 0; i < between_looks_; ++i, ++sweeps) {
                change = 0;
                sweep(worker, tile, sweeps == 0, compute);
            }
            worker.enter(Phase::synchronisation);
            more = worker.sum(std::uint64_t{change > tolerance}) > 0;
            worker.enter(Phase::computation);
        }
        finish(worker, tile, Colour::black);
        return sweeps;
    }

private:
    /// One sweep. Black edges are under way before it, except before the first one, and after it. The points that need
    /// no ghosts are computed meanwhile, in one walk over memory: black rows follow the red ones.
    template <class Compute>
    void sweep(Worker& worker, RedBlackTile& tile, bool is_first, Compute compute) {
        // Red points need ghosts only on the edges to neighbours; black points need red ones, which is one line more.
        const Tile inside = cut_.without_edges(worker.index(), tile.own());
        const Tile core = cut_.without_edges(worker.index(), inside);
        const auto compute_between = [&](Colour colour, const Tile& outer, const Tile& inner) {
            for_lines_between(outer, inner, [&](const Tile& line) { compute(colour, line); });
        };
        walk(inside, core, compute);
        if (!is_first) finish(worker, tile, Colour::black);
        compute_between(Colour::red, tile.own(), inside);
        start(worker, tile, Colour::red);
        compute_between(Colour::black, inside, core);
        finish(worker, tile, Colour::red);
        compute_between(Colour::black, tile.own(), inside);
        start(worker, tile, Colour::black);
    }
    template <class Compute>
    static void walk(const Tile& red, const Tile& black, Compute compute) {
        for (std::size_t row = red.rows.begin; row <= red.rows.end; ++row) {
            if (row < red.rows.end) compute(Colour::red, Tile{{row, row + 1}, red.columns});
            if (row > black.rows.begin && row <= black.rows.end)
                compute(Colour::black, Tile{{row - 1, row}, black.columns});
        }
    }
    void start(Worker& worker, RedBlackTile& tile, Colour colour) {
        edges_.start(worker, Sides::all, [&](Side side) { return tile.edge(colour, side); });
    }
    void finish(Worker& worker, RedBlackTile& tile, Colour colour) {
        edges_.finish(worker, Sides::all, [&](Side side, const double* edge) { tile.accept(colour, side, edge); });
    }

    const Cut& cut_;
    TileEdges<C> edges_;
    std::size_t between_looks_;
};

} // namespace kumiki::kernels
