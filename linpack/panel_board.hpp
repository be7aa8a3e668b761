#pragma once

#include <cstddef>
#include <vector>

#include "linpack/grid.hpp"
#include "linpack/panel.hpp"

namespace kumiki::linpack {

/// Panels on their way along the process rows. A rank factors its panel in a region; the others of its process row
/// read it there where they can reach it, so that the broadcast is no more than a signal, and else get it put into
/// their own region. There are two places, for steps in turn, so that the next panel can be made while the last is in
/// use.
class PanelBoard {
public:
    /// Collective over the job. `block` is the width of a panel, `rows` the most rows that any rank has.
    PanelBoard(Place& place, std::size_t block, std::size_t rows);

    /// The owner: waits until nobody in the process row uses the place of this step any more, and returns it.
    Panel begin(std::size_t step);
    /// The owner: the panel of this step is complete.
    void publish(const StepShape& shape);
    /// Waits for the panel of this step; it remains until done().
    Panel await(const StepShape& shape);
    /// This rank does not need the panel of this step any more.
    void done(std::size_t step);

private:
    /// The place of a step in a copy of the region.
    Panel at(double* region, std::size_t step) const;

    Place& place_;
    std::size_t block_, lead_, panel_size_;
    Region<double> panels_;
    Region<Signal> arrived_; ///< by place: the last step whose panel is there, counted from 1
    Region<Signal> done_;    ///< by process column: the last step that it is done with, counted from 1
};

} // namespace kumiki::linpack
