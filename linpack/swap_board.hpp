#pragma once

#include <cstddef>

#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// Rows on their way along a process column. For each slab of columns every rank packs the rows that others need into a
/// piece of a region and signals the others, which read them there where they can reach it; to ranks on other hosts
/// the piece is put.
///
/// There are pieces for two steps in turn, and nobody need say that it has read one: a rank writes a piece of step
/// k + 2 when it has finished step k + 1, for which it needed the others' pieces, and these were packed by ranks that
/// had finished step k.
class SwapBoard {
public:
    /// Collective over the job. A rank has at most `columns` columns, which a step cuts into at most `slabs` slabs, and
    /// sends at most `rows` rows.
    SwapBoard(Place& place, std::size_t rows, std::size_t columns, std::size_t slabs);

    /// Where this rank packs its piece for the slab that begins with column `column`.
    double* piece(std::size_t step, std::size_t column);
    /// The piece is complete: `length` elements.
    void publish(std::size_t step, std::size_t slab, std::size_t column, std::size_t length);
    /// Waits for the piece of process row `row`.
    const double* await(std::size_t step, std::size_t slab, std::size_t column, int row);

private:
    static std::size_t copies_needed(Place& place);
    /// Where a process row's piece is in a copy of the region, as an index.
    std::size_t index(std::size_t step, std::size_t column, int row) const;
    Signal& arrived(std::size_t slab, int row);

    Place& place_;
    std::size_t rows_, columns_;
    std::size_t copies_; ///< 1, or the number of process rows where some cannot reach each other's memory
    Region<double> pieces_;
    Region<Signal> arrived_; ///< by slab and process row: the last step whose piece is there, counted from 1
};

} // namespace kumiki::linpack
