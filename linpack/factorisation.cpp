#include "linpack/factorisation.hpp"

#include <algorithm>

#include "linpack/panel_factor.hpp"
#include "linpack/resident_update.hpp"
#include "linpack/slabs.hpp"
#include "linpack/update.hpp"

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
      device_share_(device ? device->share : 0),
      panel_first_(device && device->by_process),
      device_slab_(columns_on_device(device)),
      swaps_(place, 2 * layout.block(), most_columns(),
             2 + (device_slab_ > 0 ? most_columns() / device_slab_ + 1 : most_slabs(most_columns())), travel),
      update_(updater(device)),
      workspaces_(static_cast<std::size_t>(team.size())),
      leaf_(layout.rows.largest_local_length(), std::min(variant.least, layout.block())) {
    if (device_slab_ > 0) return;
    // Room for the widest slab, so that no memory is allocated while time is taken.
    const std::vector<Range> slabs = slabs_of({0, matrix.columns()});
    const std::size_t widest = slabs.empty() ? 0 : slabs.front().size();
    for (Updater::Workspace& u : workspaces_) u.resize(layout.block() * std::max(widest, layout.block()));
}

std::size_t Factorisation::columns_on_device(const std::optional<DeviceUse>& device) const {
    const std::size_t here = device && device->own != nullptr
                                 ? columns_of_device_slab(layout_.rows.largest_local_length(), most_columns(),
                                                          layout_.block(), device->own->properties().largest_bytes)
                                 : 0;
    return place_.job().all_reduce(here, Operation::min);
}

std::unique_ptr<Updater> Factorisation::updater(const std::optional<DeviceUse>& device) {
    if (device_slab_ > 0)
        return std::make_unique<ResidentUpdate>(place_, *device->own, matrix_, layout_.rows, layout_.columns, swaps_,
                                                layout_.block(), device_slab_);
    const bool offloads = device_share_ > 0 && device->here && matrix_.rows() != 0 && matrix_.columns() != 0;
    return std::make_unique<Update>(
        place_, matrix_, layout_.rows, swaps_,
        offloads ? std::make_unique<Offload>(device->address, matrix_, layout_.block()) : nullptr,
        look_ahead_ == LookAhead::chopped ? [this](std::size_t left) { return chop(left); } : Update::Width());
}

bool Factorisation::run(const Progress& progress) {
    if (layout_.steps() != 0) team_.run([&](Member& member) { work(member, progress); });
    update_->finish();
    return regular_;
}

void Factorisation::work(Member& member, const Progress& progress) {
    if (member.master() && owns_panel(0)) make_panel(0);
    for (std::size_t step = 0; step < layout_.steps(); ++step) {
        if (member.master()) begin_step(step);
        member.barrier();
        take_slabs(member);
        update_->help();
        member.barrier();
        if (!member.master()) continue;
        end_step(step);
        if (progress) progress(step);
    }
}

void Factorisation::take_slabs(Member& member) {
    Updater::Workspace& workspace = workspaces_[static_cast<std::size_t>(member.thread())];
    const bool orders_first = update_->only_orders() && member.threads() == 1;
    bool owes_panel = false;
    // The barriers order what the threads write; the counter only deals out the slabs.
    for (std::size_t taken; (taken = next_.fetch_add(1, std::memory_order_relaxed)) < slabs_.size();) {
        update_->run(slabs_[taken], workspace);
        if (slabs_[taken].makes_panel) {
            if (orders_first) owes_panel = true;
            else make_panel(step_ + 1);
        }
        if (member.master() && has_next() && !awaited_.valid()) panels_.relay(shape(step_ + 1));
    }
    if (owes_panel) make_panel(step_ + 1);
}

void Factorisation::end_step(std::size_t step) {
    update_->end();
    panels_.done(step);
    if (look_ahead_ == LookAhead::none && owns_panel(step + 1)) make_panel(step + 1);
}

void Factorisation::begin_step(std::size_t step) {
    const StepShape here = shape(step);
    const Panel panel = panel_of(here);
    for (std::size_t i = 0; i < here.width; ++i) pivots_.push_back(static_cast<std::size_t>(panel.pivots[i]));
    cut(here);
    update_->begin(here, panel, slabs_);
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
    const std::size_t shared = Offload::slabs(device_share_, behind.size());
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
    if (device_slab_ > 0) return cut_at_multiples(columns, device_slab_);
    const bool evenly = look_ahead_ == LookAhead::chopped || look_ahead_ == LookAhead::thread;
    return evenly ? cut_evenly(columns, most_threads_) : cut_slabs(columns, most_threads_);
}

bool Factorisation::owns_panel(std::size_t step) const {
    return step < layout_.steps() && layout_.columns.owner(step) == place_.column();
}

bool Factorisation::factor_panel(const StepShape& shape, std::size_t column, const Panel& panel) {
    if (update_->factors_panels()) return update_->factor_panel(shape, column, panel);
    update_->bring_panel(shape, column, panel);
    return PanelFactor(shape, panel, layout_.rows, place_.row(), choices_, variant_, leaf_).run();
}

void Factorisation::make_panel(std::size_t step) {
    const StepShape here = shape(step);
    const Panel panel = panels_.begin(step);
    const std::size_t column = layout_.columns.local_begin(place_.column(), step);
    if (!factor_panel(here, column, panel)) regular_ = false;
    for (std::size_t row = 0; row < here.own_rows; ++row)
        std::copy_n(panel.top + row * panel.lead, here.width, matrix_.at(here.row + row, column));
    panels_.publish(here);
    made_.store(true, std::memory_order_relaxed);
}

} // namespace kumiki::linpack
