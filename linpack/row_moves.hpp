#pragma once

#include <cstddef>
#include <vector>

#include "linpack/block_map.hpp"
#include "linpack/panel.hpp"

namespace kumiki::linpack {

/// What the swaps of a step do to the rows of the columns on the right, all at once: which rows become the rows of the
/// block (and so rows of U), and which rows of the block go to other places. Rows are numbers in the matrix.
struct RowMoves {
    struct Move {
        std::size_t from, to;
        bool operator==(const Move&) const = default;
    };
    std::vector<std::size_t> into; ///< row i of the block becomes what was row into[i]
    std::vector<Move> out;         ///< rows of the block, by ascending destination below the block
};

/// The moves of the swaps of row first + i with row pivots[i], i = 0 .. width - 1, one after another.
RowMoves moves_of(std::size_t first, std::size_t width, const double* pivots);

/// The part of the moves that concerns one rank of the process column, in rows of its own.
struct LocalMoves {
    struct Row {
        std::size_t here;  ///< this rank's row
        std::size_t other; ///< where it belongs: a row of U, or a place in the sender's piece
    };
    std::vector<Row> into; ///< this rank's row `here` becomes row `other` of U
    std::vector<Row> out;  ///< the `other`-th of RowMoves::out belongs into this rank's row `here`
};

LocalMoves local_moves(const RowMoves& moves, const BlockMap& rows, int process_row);

/// The moves of a step, and each process row's part of them.
struct StepMoves {
    RowMoves all;
    std::vector<LocalMoves> by_row;
    int owner_row = 0; ///< that has the rows of the block

    static StepMoves of(const StepShape& shape, const Panel& panel, const BlockMap& rows, int process_rows);
    /// The rows that a process row sends: those of U that it has, and those that go out if the block's rows are its
    /// own.
    std::size_t sent_by(int row) const;
};

} // namespace kumiki::linpack
