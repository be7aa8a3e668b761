#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "linpack/local_matrix.hpp"
#include "linpack/offload.hpp"
#include "linpack/row_moves.hpp"
#include "linpack/swap_board.hpp"
#include "linpack/updater.hpp"

namespace kumiki::linpack {

/// The update by the threads of this rank, in the memory of the host; with products that a device shares (Offload).
/// Slabs may be updated by several threads at once, each with a workspace of its own.
class Update : public Updater {
public:
    /// How many of the columns that are left of a slab the next product shall have. Any thread.
    using Width = std::function<std::size_t(std::size_t left)>;

    /// `offload`: null where no device takes part. `width`: empty where a slab is one product.
    Update(Place& place, const LocalMatrix& matrix, const BlockMap& rows, SwapBoard& board,
           std::unique_ptr<Offload> offload = nullptr, Width width = {})
        : place_(place),
          matrix_(matrix),
          rows_(rows),
          board_(board),
          offload_(std::move(offload)),
          width_(std::move(width)) {}

    void begin(const StepShape& shape, const Panel& panel, std::span<const Slab> slabs) override;
    void run(const Slab& slab, Workspace& u) override;
    void help() override;
    void bring_panel(const StepShape& shape, std::size_t column, const Panel& panel) override;
    void end() override;
    std::size_t products() const override { return products_; }

private:
    /// Subtracts L21 x U.
    void multiply(const Slab& slab, const double* u);
    /// Both bring the rows of U together in `u`, without gaps, and put the rows that they displace into their places.
    void swap_here(const Range& columns, double* u);
    void swap_among_ranks(const Slab& slab, double* u);
    /// Packs what this rank sends: its rows of U, and after them, at the owner of the block's rows, those that go out.
    void send(const Slab& slab);

    Place& place_;
    const LocalMatrix& matrix_;
    const BlockMap& rows_;
    SwapBoard& board_;
    std::unique_ptr<Offload> offload_;
    Width width_;
    StepShape shape_;
    Panel panel_{};
    StepMoves moves_;
    std::atomic<std::size_t> products_{0};
};

} // namespace kumiki::linpack
