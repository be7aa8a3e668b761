#pragma once

#include <cstddef>

#include "linpack/grid.hpp"
#include "linpack/routes.hpp"
#include "linpack/slabs.hpp"

namespace kumiki::linpack {

/// Rows on their way along a process column. For each slab of columns every rank packs the rows that others need into a
/// piece of a region and signals the others, which read them there where they are on its host; to ranks on other hosts
/// the piece travels, from one to the next (Route). A rank passes a piece on when it awaits it; all await the pieces in
/// the order of their distance, and a piece comes from a rank that is nearer to its source, so that none waits in a
/// circle.
///
/// There are pieces for two steps in turn, and nobody need say that it has read one: a rank writes a piece of step
/// k + 2 when it has finished step k + 1, for which it needed the others' pieces, and these were packed by ranks that
/// had finished step k, with all that they passed on in it.
///
/// By a tree a rank gets a piece from another sender than by a ring, and the way that a slab takes may change from step
/// to step. So each way has signals of its own, and each signal is raised by one rank only, in the order of the steps.
/// If both ways had one signal, a late piece of step k could set it back after step k + 1 had raised it, or the signal
/// of step k + 1 could let a rank use the rows of step k before they are there.
class SwapBoard {
public:
    /// Collective over the job. A rank has at most `columns` columns, which a step cuts into at most `slabs` slabs, and
    /// sends at most `rows` rows.
    SwapBoard(Place& place, std::size_t rows, std::size_t columns, std::size_t slabs, const Travel& travel);

    /// Where this rank packs its piece for the slab that begins with column `column`.
    double* piece(std::size_t step, std::size_t column);
    /// The piece is complete: `rows` rows of `slab`.
    void publish(std::size_t step, const Slab& slab, std::size_t rows);
    /// Waits for the piece of process row `row`, which has `rows` rows, and passes it on.
    const double* await(std::size_t step, const Slab& slab, int row, std::size_t rows);

private:
    /// Puts the piece of process row `source` to those that get it from this rank.
    void pass_on(std::size_t step, const Slab& slab, int source, std::size_t rows);
    /// Where a process row's piece is in a copy of the region, as an index.
    std::size_t index(std::size_t step, std::size_t column, int row) const;
    Signal& arrived(const Slab& slab, int row);
    /// How a slab's rows travel: the same at every rank of the process column.
    Swap way_of(const Slab& slab) const { return travel_.swap_of(slab.columns.size()); }

    Place& place_;
    Travel travel_;
    std::size_t rows_, columns_;
    std::size_t copies_; ///< 1, or the number of process rows where some cannot reach each other's memory
    Region<double> pieces_;
    Region<Signal> arrived_; ///< by slab, process row and way: the last step whose piece is there, counted from 1
};

} // namespace kumiki::linpack
