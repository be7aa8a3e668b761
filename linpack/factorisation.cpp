#include "linpack/factorisation.hpp"

#include <algorithm>

#include "linpack/panel_factor.hpp"
#include "linpack/slabs.hpp"

namespace kumiki::linpack {

Factorisation::Factorisation(Place& place, const Layout& layout, const LocalMatrix& matrix, Team& team,
                             const Variant& variant, const Travel& travel)
    : place_(place),
      layout_(layout),
      matrix_(matrix),
      team_(team),
      variant_(variant),
      most_threads_(place.job().all_reduce(team.size(), Operation::max)),
      panels_(place, layout.block(), layout.rows.largest_local_length(), travel.broadcast),
      choices_(place, layout.block()),
      swaps_(place, 2 * layout.block(), layout.columns.largest_local_length(),
             1 + most_slabs(layout.columns.largest_local_length()), travel),
      update_(place, matrix, layout.rows, swaps_),
      workspaces_(static_cast<std::size_t>(team.size())),
      leaf_(layout.rows.largest_local_length(), std::min(variant.least, layout.block())) {}

bool Factorisation::run(const Progress& progress) {
    if (layout_.steps() != 0) team_.run([&](Member& member) { work(member, progress); });
    return regular_;
}

void Factorisation::work(Member& member, const Progress& progress) {
    Update::Workspace& workspace = workspaces_[static_cast<std::size_t>(member.thread())];
    if (member.master() && owns_panel(0)) make_panel(0);
    for (std::size_t step = 0; step < layout_.steps(); ++step) {
        if (member.master()) begin_step(step);
        member.barrier();
        // The barriers order what the threads write; the counter only deals out the slabs.
        for (std::size_t taken; (taken = next_.fetch_add(1, std::memory_order_relaxed)) < slabs_.size();) {
            update_.run(slabs_[taken], workspace);
            if (taken == 0 && owns_panel(step + 1)) make_panel(step + 1);
            if (member.master() && step + 1 < layout_.steps()) panels_.relay(shape(step + 1));
        }
        member.barrier();
        if (!member.master()) continue;
        panels_.done(step);
        if (progress) progress(step);
    }
}

void Factorisation::begin_step(std::size_t step) {
    const StepShape here = shape(step);
    const Panel panel = panels_.await(here);
    for (std::size_t i = 0; i < here.width; ++i) pivots_.push_back(static_cast<std::size_t>(panel.pivots[i]));
    update_.begin(here, panel);
    cut(here);
    next_ = 0;
}

void Factorisation::cut(const StepShape& shape) {
    const BlockMap& columns = layout_.columns;
    const std::size_t own = owns_panel(shape.step) ? shape.width : 0;
    Range behind{columns.local_begin(place_.column(), shape.step) + own, columns.local_length(place_.column())};
    slabs_.clear();
    const auto add = [&](const Range& range) { slabs_.push_back({slabs_.size(), range}); };
    if (owns_panel(shape.step + 1)) {
        const std::size_t width = layout_.rows.width(shape.step + 1);
        add({behind.begin, behind.begin + width});
        behind.begin += width;
    }
    for (const Range& slab : cut_slabs(behind, most_threads_)) add(slab);
}

bool Factorisation::owns_panel(std::size_t step) const {
    return step < layout_.steps() && layout_.columns.owner(step) == place_.column();
}

void Factorisation::make_panel(std::size_t step) {
    const StepShape here = shape(step);
    const Panel panel = panels_.begin(step);
    const std::size_t column = layout_.columns.local_begin(place_.column(), step);
    for (std::size_t row = 0; row < here.rows; ++row)
        std::copy_n(matrix_.at(here.row + row, column), here.width, panel.rows + row * panel.lead);
    if (!PanelFactor(here, panel, layout_.rows, place_.row(), choices_, variant_, leaf_).run()) regular_ = false;
    for (std::size_t row = 0; row < here.own_rows; ++row)
        std::copy_n(panel.top + row * panel.lead, here.width, matrix_.at(here.row + row, column));
    panels_.publish(here);
}

} // namespace kumiki::linpack
