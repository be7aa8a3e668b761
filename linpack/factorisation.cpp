#include "linpack/factorisation.hpp"

#include <algorithm>

#include "linpack/panel_factor.hpp"
#include "linpack/slabs.hpp"

namespace kumiki::linpack {

Factorisation::Factorisation(Place& place, const Layout& layout, const LocalMatrix& matrix, Team& team,
                             const Variant& variant, const Travel& travel, const std::optional<DeviceUse>& device,
                             LookAhead look_ahead)
    : place_(place),
      layout_(layout),
      matrix_(matrix),
      team_(team),
      variant_(variant),
      look_ahead_(look_ahead),
      most_threads_(place.job().all_reduce(team.size(), Operation::max)),
      panels_(place, layout.block(), layout.rows.largest_local_length(), travel.broadcast),
      choices_(place, layout.block()),
      swaps_(place, 2 * layout.block(), layout.columns.largest_local_length(),
             2 + most_slabs(layout.columns.largest_local_length()), travel),
      device_share_(device ? device->share : 0),
      panel_first_(device && device->by_process),
      offload_(device_share_ > 0 && device->here && matrix.rows() != 0 && matrix.columns() != 0
                   ? std::make_unique<Offload>(device->address, matrix, layout.block())
                   : nullptr),
      update_(place, matrix, layout.rows, swaps_, offload_.get(),
              look_ahead == LookAhead::chopped ? [this](std::size_t left) { return chop(left); } : Update::Width()),
      workspaces_(static_cast<std::size_t>(team.size())),
      leaf_(layout.rows.largest_local_length(), std::min(variant.least, layout.block())) {
    // Room for the widest slab, so that no memory is allocated while time is taken.
    const std::vector<Range> slabs = slabs_of({0, matrix.columns()});
    const std::size_t widest = slabs.empty() ? 0 : slabs.front().size();
    for (Update::Workspace& u : workspaces_) u.resize(layout.block() * std::max(widest, layout.block()));
}

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
            if (slabs_[taken].makes_panel) make_panel(step + 1);
            if (member.master() && has_next() && !awaited_.valid()) panels_.relay(shape(step + 1));
        }
        if (offload_) offload_->help();
        member.barrier();
        if (!member.master()) continue;
        end_step(step);
        if (progress) progress(step);
    }
}

void Factorisation::end_step(std::size_t step) {
    if (offload_) offload_->finish();
    panels_.done(step);
    if (look_ahead_ == LookAhead::none && owns_panel(step + 1)) make_panel(step + 1);
}

void Factorisation::begin_step(std::size_t step) {
    const StepShape here = shape(step);
    const Panel panel = panel_of(here);
    for (std::size_t i = 0; i < here.width; ++i) pivots_.push_back(static_cast<std::size_t>(panel.pivots[i]));
    update_.begin(here, panel);
    if (offload_) offload_->begin(here, panel);
    cut(here);
    next_ = 0;
    step_ = step;
    made_.store(false, std::memory_order_relaxed);
    if (look_ahead_ == LookAhead::thread && has_next() && !owns_panel(step + 1))
        awaited_ = std::async(std::launch::async, [this, next = shape(step + 1)] { return panels_.await(next); });
}

Panel Factorisation::panel_of(const StepShape& shape) {
    return awaited_.valid() ? awaited_.get() : panels_.await(shape);
}

std::size_t Factorisation::chop(std::size_t left) {
    if (!has_next() || left <= layout_.block()) return left;
    const bool there = owns_panel(step_ + 1) ? made_.load(std::memory_order_relaxed) : panels_.relay(shape(step_ + 1));
    return there ? left : layout_.block();
}

void Factorisation::cut(const StepShape& shape) {
    const BlockMap& columns = layout_.columns;
    const std::size_t own = owns_panel(shape.step) ? shape.width : 0;
    Range behind{columns.local_begin(place_.column(), shape.step) + own, columns.local_length(place_.column())};
    const bool ahead = look_ahead_ != LookAhead::none && owns_panel(shape.step + 1);
    const std::size_t next = ahead ? layout_.rows.width(shape.step + 1) : 0;
    const Range panel{behind.begin, behind.begin + next};
    behind.begin += next;
    slabs_.clear();
    // The same at every rank of a process column, also at those without a device.
    constexpr std::size_t wide = Offload::slab_columns;
    const auto shared =
        std::min(static_cast<std::size_t>(device_share_ * static_cast<double>(behind.size()) / wide + 0.5),
                 behind.size() / wide);
    const auto add_panel = [&] {
        if (next != 0) slabs_.push_back({slabs_.size(), panel, true, false});
    };
    if (panel_first_) add_panel();
    for (std::size_t slab = 0; slab < shared; ++slab, behind.begin += wide)
        slabs_.push_back({slabs_.size(), {behind.begin, behind.begin + wide}, false, true});
    if (!panel_first_) add_panel();
    for (const Range& slab : slabs_of(behind)) slabs_.push_back({slabs_.size(), slab});
}

std::vector<Range> Factorisation::slabs_of(const Range& columns) const {
    const bool evenly = look_ahead_ == LookAhead::chopped || look_ahead_ == LookAhead::thread;
    return evenly ? cut_evenly(columns, most_threads_) : cut_slabs(columns, most_threads_);
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
    made_.store(true, std::memory_order_relaxed);
}

} // namespace kumiki::linpack
