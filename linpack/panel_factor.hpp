#pragma once

#include "linpack/leaf_columns.hpp"
#include "linpack/panel.hpp"
#include "linpack/pivot_board.hpp"
#include "linpack/variant.hpp"

namespace kumiki::linpack {

/// Factors a panel with row partial pivoting, together with the other ranks of the process column. The pivot rows are
/// kept by every rank of the column (`Panel::top`), so that each can solve with them by itself; a whole row of the
/// panel travels when a pivot is chosen, so that rows may be updated early or late (Looking).
class PanelFactor {
public:
    /// For a rank in process row `process_row`; `map` deals the rows of the matrix to them. `leaf` has room for the
    /// rows of this rank and variant.least columns (or those of the panel, if these are fewer).
    PanelFactor(const StepShape& shape, const Panel& panel, const BlockMap& map, int process_row, PivotBoard& board,
                const Variant& variant, LeafColumns& leaf)
        : shape_(shape),
          panel_(panel),
          map_(map),
          process_row_(process_row),
          board_(board),
          variant_(variant),
          leaf_(leaf) {}

    /// Collective over the process column, by one thread of each rank. Returns false when the matrix is singular: a
    /// pivot is 0.
    bool run();

private:
    /// Columns, or rows of the top: [begin, end).
    struct Span {
        std::size_t begin, end;
        std::size_t size() const { return end - begin; }
    };

    void factor(Span columns);
    std::size_t part_width(std::size_t columns) const;
    /// top[done x columns] = L^-1 top[done x columns], with the L of `done`.
    void solve(Span done, Span columns);
    /// top[rows x columns] -= top[rows x done] top[done x columns].
    void update_top(Span rows, Span done, Span columns);
    /// This rank's rows below: rows[columns] -= rows[done] top[done x columns].
    void update_rows(Span done, Span columns);

    void factor_leaf(Span columns);
    void update_top_plainly(std::size_t row, Span done, Span columns);
    void pivot(std::size_t column);
    Candidate find(std::size_t column);
    /// Row `row_here` of this rank becomes `elements`.
    void put(const double* elements, std::size_t row_here);
    /// Puts the pivot row into the top, and the row whose place it takes where the pivot row was.
    void swap_here(std::size_t column);
    void swap_among_ranks(std::size_t column);

    /// This rank's first row that is not yet a pivot row when `chosen` pivots have been chosen.
    std::size_t first_row(std::size_t chosen) const { return shape_.owns_rows() ? chosen : 0; }
    double* top(std::size_t row) const { return panel_.top + row * panel_.lead; }
    double* row(std::size_t row) const { return panel_.rows + row * panel_.lead; }
    /// The row of the matrix that row `row` of the panel is at this rank, and the reverse.
    std::size_t index_of(std::size_t row) const { return map_.global_of(process_row_, shape_.row + row); }
    std::size_t row_of(std::size_t index) const { return map_.local_of(index) - shape_.row; }

    const StepShape& shape_;
    const Panel& panel_;
    const BlockMap& map_;
    int process_row_;
    PivotBoard& board_;
    const Variant& variant_;
    LeafColumns& leaf_;
    bool regular_ = true;
};

} // namespace kumiki::linpack
