#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/range.hpp"
#include "linpack/local_matrix.hpp"
#include "linpack/offload.hpp"
#include "linpack/panel.hpp"
#include "linpack/row_moves.hpp"
#include "linpack/swap_board.hpp"

namespace kumiki::linpack {

using kernels::Range;

/// What a step does to the columns behind its panel, slab by slab: swap the rows, solve for the rows of U, and subtract
/// L21 x U. Slabs may be updated by several threads at once, each with a workspace of its own.
class Update {
public:
    /// Room for the rows of U of a slab.
    using Workspace = kernels::AlignedVector<double>;

    /// How many of the columns that are left of a slab the next product shall have. Any thread.
    using Width = std::function<std::size_t(std::size_t left)>;

    /// `offload`: null where no device takes part. `width`: empty where a slab is one product.
    Update(Place& place, const LocalMatrix& matrix, const BlockMap& rows, SwapBoard& board, Offload* offload = nullptr,
           Width width = {})
        : place_(place), matrix_(matrix), rows_(rows), board_(board), offload_(offload), width_(std::move(width)) {}

    /// Sets the step: from here to the next call its panel is applied.
    void begin(const StepShape& shape, const Panel& panel);
    /// Collective over the process column, for each slab by one thread of each rank, which begin their slabs in
    /// ascending order. The products of a slab for the device may be done later: Offload::finish().
    void run(const Slab& slab, Workspace& u);
    /// The products of this rank's threads so far.
    std::size_t products() const { return products_; }

private:
    /// Subtracts L21 x U.
    void multiply(const Slab& slab, const double* u);
    /// Both bring the rows of U together in `u`, without gaps, and put the rows that they displace into their places.
    void swap_here(const Range& columns, double* u);
    void swap_among_ranks(const Slab& slab, double* u);
    /// The rows that a process row sends: those of U that it has, and those that go out if the block's rows are its
    /// own.
    std::size_t sent_rows(int row) const;
    /// Packs what this rank sends: its rows of U, and after them, at the owner of the block's rows, those that go out.
    void send(const Slab& slab);

    Place& place_;
    const LocalMatrix& matrix_;
    const BlockMap& rows_;
    SwapBoard& board_;
    Offload* offload_;
    Width width_;
    std::atomic<std::size_t> products_{0};
    StepShape shape_;
    Panel panel_{};
    RowMoves moves_;
    std::vector<LocalMoves> local_; ///< by process row
};

} // namespace kumiki::linpack
