#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "linpack/grid.hpp"
#include "linpack/panel.hpp"
#include "linpack/routes.hpp"

namespace kumiki::linpack {

/// Panels on their way along the process rows. A rank factors its panel in a region; the others of its process row
/// read it there where they are on its host, so that the broadcast is no more than a signal, and else it travels into
/// their own regions, from one to the next as the broadcast says (Route). There are two places, for steps in turn, so
/// that the next panel can be made while the last is in use. As the owner begins a panel only when all are done with
/// what was in its place, the place is free at every rank that passes it on or gets it.
class PanelBoard {
public:
    /// Collective over the job. `block` is the width of a panel, `rows` the most rows that any rank has.
    PanelBoard(Place& place, std::size_t block, std::size_t rows, Broadcast broadcast);

    /// The owner: waits until nobody in the process row uses the place of this step any more, and returns it.
    Panel begin(std::size_t step);
    /// The owner: the panel of this step is complete.
    void publish(const StepShape& shape);
    /// Passes on what has arrived of the panel of this step, without waiting, at a rank that does not own it. Returns
    /// whether all of it has; false also where another thread is looking. Any thread, but not beside await().
    bool relay(const StepShape& shape);
    /// Waits for the panel of this step, and passes it on; it remains until done(). One thread.
    Panel await(const StepShape& shape);
    /// This rank does not need the panel of this step any more.
    void done(std::size_t step);

private:
    /// The place of a step in a copy of the region.
    Panel at(double* region, std::size_t step) const;

    /// The way from the owner of a step, and this rank's position on it.
    struct Way {
        std::vector<int> order; ///< process columns by position
        int position;           ///< order.size() if this rank reads the panel where it was made
        Route route;
    };
    Way way_of(const StepShape& shape) const;
    bool travels(const StepShape& shape) const;
    /// Puts part `part` to those that get it from this rank.
    void pass_on(const StepShape& shape, const Way& way, int part);
    Signal& arrived(std::size_t step, int part);

    Place& place_;
    Broadcast broadcast_;
    std::size_t block_, lead_, panel_size_;
    Region<double> panels_;
    Region<Signal> arrived_; ///< by place and part: the last step of which the part is there, counted from 1
    std::mutex passing_;     ///< of the thread that relays; guards passed_
    std::size_t passed_ = 0; ///< the parts of the panel that is awaited that have been passed on
    Region<Signal> done_;    ///< by process column: the last step that it is done with, counted from 1
};

} // namespace kumiki::linpack
