#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/aligned.hpp"
#include "kernels/common/rows.hpp"

// Red-black successive over-relaxation: the points of a grid are coloured like a chessboard, and as a point's four
// neighbours have the other colour, all points of one colour can be computed at once.

namespace kumiki::kernels {

enum class Colour { red, black };
constexpr Colour other(Colour colour) { return colour == Colour::red ? Colour::black : Colour::red; }

/// Half a row, the points of one colour that are computed, and the points of the other colour around them: those of
/// own[k] are above[k], below[k], beside[k] and beside[k + 1].
struct HalfRow {
    double* own;
    const double *above, *below, *beside;
    std::size_t count;
};

/// Contiguous rows of a square grid of inner x inner points with a border around them: a worker's own, and the one
/// before and after. Rows and columns are counted from the border's, 0 .. inner + 1. The colours of a row lie apart, so
/// that the points of a colour are neighbours in memory; point (row, column) is red where row + column is even.
class RedBlackRows {
public:
    /// `own` within 1 .. inner + 1. All values are 0.
    RedBlackRows(Range own, std::size_t inner)
        : own_(own), inner_(inner), pitch_(pitch_of(inner)), values_(2 * (own.size() + 2) * pitch_) {}

    /// Elements of half a row, rounded up to cache lines.
    static std::size_t pitch_of(std::size_t inner) {
        constexpr std::size_t line = line_bytes / sizeof(double);
        return ((inner + 3) / 2 + line - 1) / line * line;
    }

    Range own() const { return own_; }
    std::size_t inner() const { return inner_; }
    double& at(std::size_t row, std::size_t column) {
        return half(row % 2 == column % 2 ? Colour::red : Colour::black, row)[column / 2];
    }
    /// All points of a colour in a row, border included.
    std::span<double> half(Colour colour, std::size_t row) {
        const std::size_t number = 2 * (row + 1 - own_.begin) + static_cast<std::size_t>(colour);
        return std::span(values_).subspan(number * pitch_, pitch_);
    }
    /// Which column the first computed point of a colour in a row has; the next are two columns apart.
    static std::size_t first_column(Colour colour, std::size_t row) {
        return row % 2 == (colour == Colour::red ? 0 : 1) ? 2 : 1;
    }
    HalfRow half_row(Colour colour, std::size_t row) {
        const std::size_t column = first_column(colour, row), place = column / 2;
        const Colour around = other(colour);
        return {half(colour, row).data() + place, half(around, row - 1).data() + place,
                half(around, row + 1).data() + place, half(around, row).data(), (inner_ + 2 - column) / 2};
    }

private:
    Range own_;
    std::size_t inner_, pitch_;
    AlignedVector<double> values_; ///< by row, from the one before the own, and colour
};

/// Sweeps of the workers of a crew over their rows of one grid. All ghosts must be up to date before, and are
/// afterwards.
template <Crew C>
class RedBlackSweeps {
public:
    using Worker = typename C::Worker;

    /// Collective. Where sweeps end with the largest change of a point, it is looked at after so many of them, for that
    /// takes all workers.
    RedBlackSweeps(C& crew, std::size_t inner, std::size_t sweeps_between_looks = 10)
        : edges_(crew, RedBlackRows::pitch_of(inner)), between_looks_(sweeps_between_looks) {}

    /// So many sweeps, at least one; compute(colour, row) computes the points of a colour in a row.
    template <class Compute>
    void run_times(Worker& worker, RedBlackRows& rows, std::size_t sweeps, Compute compute) {
        for (std::size_t i = 0; i < sweeps; ++i) sweep(worker, rows, i == 0, compute);
        finish(worker, rows, Colour::black);
    }

    /// Sweeps until no point changes by more than `tolerance`, but not much more often than `most` times; relax(colour,
    /// row) computes the points of a colour in a row and returns how far the one that changed most did. Returns how
    /// many sweeps it took. No decision depends on how the grid is cut.
    template <class Relax>
    std::size_t run_until(Worker& worker, RedBlackRows& rows, double tolerance, std::size_t most, Relax relax) {
        std::size_t sweeps = 0;
        for (bool more = true; more && sweeps < most;) {
            double change = 0;
            const auto compute = [&](Colour colour, std::size_t row) { change = std::max(change, relax(colour, row)); };
            for (std::size_t i = 0; i < between_looks_; ++i, ++sweeps) {
                change = 0;
                sweep(worker, rows, sweeps == 0, compute);
            }
            worker.enter(Phase::synchronisation);
            more = worker.sum(std::uint64_t{change > tolerance}) > 0;
            worker.enter(Phase::computation);
        }
        finish(worker, rows, Colour::black);
        return sweeps;
    }

private:
    /// One sweep; black edges are on their way before it, but for the first one, and after it. The inside of the rows,
    /// which needs no ghosts, is computed meanwhile, in one walk over memory: black rows follow the red ones.
    template <class Compute>
    void sweep(Worker& worker, RedBlackRows& rows, bool is_first, Compute compute) {
        const auto ends = [&](Colour colour, std::size_t first, std::size_t last) {
            compute(colour, first);
            if (last != first) compute(colour, last);
        };
        const std::size_t first = rows.own().begin, last = rows.own().end - 1;
        for (std::size_t row = first + 1; row < last; ++row) {
            compute(Colour::red, row);
            if (row > first + 2) compute(Colour::black, row - 1);
        }
        if (!is_first) finish(worker, rows, Colour::black);
        ends(Colour::red, first, last);
        start(worker, rows, Colour::red);
        if (last > first + 1) ends(Colour::black, first + 1, last - 1);
        finish(worker, rows, Colour::red);
        ends(Colour::black, first, last);
        start(worker, rows, Colour::black);
    }
    void start(Worker& worker, RedBlackRows& rows, Colour colour) {
        edges_.start(worker, rows.half(colour, rows.own().begin), rows.half(colour, rows.own().end - 1));
    }
    void finish(Worker& worker, RedBlackRows& rows, Colour colour) {
        edges_.finish(worker, rows.half(colour, rows.own().begin - 1), rows.half(colour, rows.own().end));
    }

    RowEdges<C> edges_;
    std::size_t between_looks_;
};

} // namespace kumiki::kernels
