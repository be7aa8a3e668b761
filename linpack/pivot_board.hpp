#pragma once

#include <cstddef>

#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// A rank's proposal for the next pivot row.
struct Candidate {
    double size;                 ///< the absolute value, or no number; below 0: this rank has no row left
    std::size_t index;           ///< the row in the matrix
    const double* row = nullptr; ///< its elements
};

/// The choice of all ranks of a process column.
struct Choice {
    std::size_t index;     ///< the pivot row in the matrix
    int owner;             ///< the process row that had it
    const double* pivot;   ///< its elements
    const double* current; ///< those of the row whose place it takes
};

/// Where the ranks of a process column agree on a pivot: each puts its candidate, and the owner of the current row this
/// as well, into the memory of all others, and signals it. One exchange a column, and no more than one message between
/// two ranks.
class PivotBoard {
public:
    /// Collective over the job. Rows have at most `block` elements.
    PivotBoard(Place& place, std::size_t block);

    /// Collective over the process column: the largest candidate, among equals the one with the lowest index, as in
    /// LAPACK. Process row `current_owner` has the current row and passes it; the others pass null. What the choice
    /// points to is valid until the call after next.
    Choice exchange(const Candidate& mine, int current_owner, const double* current, std::size_t width);

private:
    double* entry(int row);

    Place& place_;
    std::size_t entry_size_;
    Region<double> entries_; ///< two for each process row, used in turn
    Region<Signal> arrived_; ///< by process row: its exchanges so far
    std::uint64_t exchanges_ = 0;
};

} // namespace kumiki::linpack
