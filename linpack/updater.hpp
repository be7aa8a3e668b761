#pragma once

#include <cstddef>
#include <span>

#include "kernels/common/aligned.hpp"
#include "linpack/panel.hpp"
#include "linpack/slabs.hpp"

namespace kumiki::linpack {

/// What a step does to the columns behind its panel, slab by slab: swap the rows, solve for the rows of U, and subtract
/// L21 x U; by the threads of this rank (Update), or by a device on which the matrix lives (ResidentUpdate). Threads
/// call it as Factorisation does: one begins and ends a step, any of them run its slabs in between.
class Updater {
public:
    /// Room for the rows of U of a slab, of one thread.
    using Workspace = kernels::AlignedVector<double>;

    virtual ~Updater() = default;

    /// Before the first step, when the matrix has been made.
    virtual void load() {}
    /// Sets the step: from here to end() its panel is applied, to these slabs. The panel stays until then.
    virtual void begin(const StepShape& shape, const Panel& panel, std::span<const Slab> slabs) = 0;
    /// Collective over the process column, for each slab by one thread of each rank, which begin their slabs in
    /// ascending order. The products may be done later.
    virtual void run(const Slab& slab, Workspace& workspace) = 0;
    /// Whether panels are factored where the matrix lives; then factor_panel() takes the place of bring_panel().
    virtual bool factors_panels() const { return false; }
    /// As bring_panel(), and factors the panel: sets `panel.top` and `panel.pivots`, and `panel.rows` where other ranks
    /// need them. Returns false when the matrix is singular.
    virtual bool factor_panel(const StepShape&, std::size_t /*column*/, const Panel&) { return false; }
    /// Work that is left when all slabs have been taken; any thread.
    virtual void help() {}
    /// Writes the columns of the panel of `shape`, which begin with column `column` of this rank, into `panel.rows`,
    /// when the steps before have been applied to them.
    virtual void bring_panel(const StepShape& shape, std::size_t column, const Panel& panel) = 0;
    /// Waits until the panel of the step, and the rows of other ranks, are not read any more; and for what would
    /// otherwise be late.
    virtual void end() {}
    /// After the last step: all rows of U are in the matrix of the host.
    virtual void finish() {}

    /// Whether run() only gives orders to a device, so that a thread that makes the next panel should give those of all
    /// slabs before.
    virtual bool only_orders() const { return false; }
    /// The products that threads of this rank made so far.
    virtual std::size_t products() const { return 0; }
};

} // namespace kumiki::linpack
