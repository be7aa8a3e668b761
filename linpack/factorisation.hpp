#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "linpack/layout.hpp"
#include "linpack/device_use.hpp"
#include "linpack/leaf_columns.hpp"
#include "linpack/local_matrix.hpp"
#include "linpack/panel_board.hpp"
#include "linpack/pivot_board.hpp"
#include "linpack/swap_board.hpp"
#include "linpack/updater.hpp"
#include "linpack/variant.hpp"

namespace kumiki::linpack {

/// LU factorisation of [A | b] with row partial pivoting over the grid. Afterwards each rank has its part of U, and of
/// L^-1 P b where b was; L is not kept.
///
/// A step has as its first slab the columns of the next panel, where this process column owns it: the thread that takes
/// it factors and publishes that panel at once, while the others, and then it as well, update the remaining slabs. This
/// order of the slabs is the look-ahead; others are there for studies (LookAhead). Before them come the slabs for a
/// device, so that it has work meanwhile.
class Factorisation {
public:
    /// Told of each step that is complete at this rank; called by one thread.
    using Progress = std::function<void(std::size_t step)>;

    /// Collective over the job. With `device` the ranks share updates with the devices of their hosts. Throws
    /// accelerator::DeviceError, as run() does.
    Factorisation(Place& place, const Layout& layout, const LocalMatrix& matrix, Team& team, const Variant& variant,
                  const Travel& travel, const std::optional<DeviceUse>& device = {},
                  LookAhead look_ahead = LookAhead::tiles);

    /// After the matrix was made, and before run(): brings it to where it is updated.
    void load() { update_->load(); }
    /// Collective over the ranks that take part. Returns false when a pivot that this rank saw is 0.
    bool run(const Progress& progress = {});
    /// The row with which each row was swapped, in order.
    const std::vector<std::size_t>& pivots() const { return pivots_; }
    /// How many products of matrices this rank's threads made in updates.
    std::size_t products() const { return update_->products(); }

private:
    void work(Member& member, const Progress& progress);
    /// Takes slabs until none is left, and makes the next panel after its columns.
    void take_slabs(Member& member);
    /// The order of the slabs of a step, and the panel that is applied to them.
    void begin_step(std::size_t step);
    void cut(const StepShape& shape);
    std::vector<Range> slabs_of(const Range& columns) const;
    std::size_t most_columns() const { return layout_.columns.largest_local_length(); }
    /// The same at every rank of the job.
    std::size_t columns_on_device(const std::optional<DeviceUse>& device) const;
    std::unique_ptr<Updater> updater(const std::optional<DeviceUse>& device);
    /// With the panel of a step, which has been awaited by a thread of its own, or is now.
    Panel panel_of(const StepShape& shape);
    /// What follows the slabs, at one thread.
    void end_step(std::size_t step);
    /// The columns of the next product of a slab that has so many left.
    std::size_t chop(std::size_t left);
    /// Factors the panel of a step out of the matrix, and publishes it.
    void make_panel(std::size_t step);
    /// Where the matrix lives, or here. Returns false when the matrix is singular.
    bool factor_panel(const StepShape& shape, std::size_t column, const Panel& panel);
    bool owns_panel(std::size_t step) const;
    bool has_next() const { return step_ + 1 < layout_.steps(); }
    StepShape shape(std::size_t step) const { return shape_of(step, layout_.rows, layout_.columns, place_.row()); }

    Place& place_;
    const Layout& layout_;
    const LocalMatrix& matrix_;
    Team& team_;
    Variant variant_;
    LookAhead look_ahead_;
    int most_threads_; ///< of any rank: ranks of a process column must cut alike
    PanelBoard panels_;
    PivotBoard choices_;
    double device_share_;
    bool panel_first_;        ///< also before the slabs for a device
    std::size_t device_slab_; ///< columns of a slab of the matrix on a device; 0: it is not there
    SwapBoard swaps_;
    std::unique_ptr<Updater> update_;
    std::vector<Updater::Workspace> workspaces_; ///< by thread
    LeafColumns leaf_;                           ///< of the panel that a thread of this rank factors

    std::size_t step_ = 0;
    std::future<Panel> awaited_;       ///< the panel of the next step, where a thread of its own waits for it
    std::atomic<bool> made_{false};    ///< the panel of the next step, by this rank
    std::vector<Slab> slabs_;          ///< of this step
    std::atomic<std::size_t> next_{0}; ///< the next slab that no thread has taken
    std::vector<std::size_t> pivots_;
    bool regular_ = true;
};

} // namespace kumiki::linpack
