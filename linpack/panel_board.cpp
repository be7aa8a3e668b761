#include "linpack/panel_board.hpp"

#include <algorithm>
#include <utility>

#include "linpack/lead.hpp"
#include "linpack/prefault.hpp"

namespace kumiki::linpack {

namespace {

constexpr std::size_t panel_places = 2;

} // namespace

PanelBoard::PanelBoard(Place& place, std::size_t block, std::size_t rows, Broadcast broadcast)
    : place_(place),
      broadcast_(broadcast),
      block_(block),
      lead_(lead_for(block)),
      panel_size_((block + 1 + rows) * lead_),
      panels_(place.job().allocate<double>(panel_places * panel_size_)),
      arrived_(place.job().allocate<Signal>(panel_places * static_cast<std::size_t>(place.grid().columns))),
      done_(place.job().allocate<Signal>(static_cast<std::size_t>(place.grid().columns))) {
    prefault(place.job(), panels_, place.row_peers_here());
}

Panel PanelBoard::at(double* region, std::size_t step) const {
    double* const top = region + step % panel_places * panel_size_;
    double* const pivots = top + block_ * lead_;
    return {top, pivots, pivots + lead_, lead_};
}

Panel PanelBoard::begin(std::size_t step) {
    // What was in this place was the panel of step - panel_places; counted from 1, its number is step - panel_places
    // + 1.
    if (step >= panel_places)
        for (int column = 0; column < place_.grid().columns; ++column)
            if (column != place_.column())
                place_.job().wait(done_[column], Comparison::at_least, step - panel_places + 1);
    return at(panels_.data(), step);
}

PanelBoard::Way PanelBoard::way_of(const StepShape& shape) const {
    std::vector<int> order = place_.senders_in_row(shape.owner_column);
    const auto found = std::ranges::find(order, place_.column());
    const auto position = static_cast<int>(found - order.begin());
    const Route route = Route::of(broadcast_, static_cast<int>(order.size()) - 1);
    return {std::move(order), position, route};
}

Signal& PanelBoard::arrived(std::size_t step, int part) {
    const auto parts = static_cast<std::size_t>(place_.grid().columns);
    return arrived_[step % panel_places * parts + static_cast<std::size_t>(part)];
}

void PanelBoard::pass_on(const StepShape& shape, const Way& way, int part) {
    const auto count = static_cast<std::size_t>(way.route.parts()), number = static_cast<std::size_t>(part);
    const std::size_t length = (block_ + 1 + shape.rows) * lead_;
    const std::size_t begin = length * number / count, end = length * (number + 1) / count;
    double* const here = at(panels_.data(), shape.step).top + begin;
    for (const int next : way.route.next(way.position, part))
        place_.job().put_signal(place_.peer_in_row(way.order[static_cast<std::size_t>(next)]), here,
                                std::span<const double>(here, end - begin), arrived(shape.step, part), shape.step + 1);
}

void PanelBoard::publish(const StepShape& shape) {
    for (int column = 0; column < place_.grid().columns; ++column)
        if (const int peer = place_.peer_in_row(column);
            column != place_.column() && place_.together(place_.job().rank(), peer))
            place_.job().signal(peer, arrived(shape.step, 0), shape.step + 1);
    const Way way = way_of(shape);
    for (int part = 0; part < way.route.parts(); ++part) pass_on(shape, way, part);
}

bool PanelBoard::travels(const StepShape& shape) const {
    return !place_.together(place_.job().rank(), place_.peer_in_row(shape.owner_column));
}

bool PanelBoard::relay(const StepShape& shape) {
    if (!travels(shape))
        return place_.job().test(arrived(shape.step, 0), Comparison::equal, shape.step + 1).has_value();
    const std::unique_lock lock(passing_, std::try_to_lock);
    if (!lock) return false;
    const Way way = way_of(shape);
    const std::vector<int> parts = way.route.arrivals(way.position);
    for (; passed_ < parts.size(); ++passed_) {
        if (!place_.job().test(arrived(shape.step, parts[passed_]), Comparison::equal, shape.step + 1)) return false;
        pass_on(shape, way, parts[passed_]);
    }
    return true;
}

Panel PanelBoard::await(const StepShape& shape) {
    if (shape.owner_column == place_.column()) return at(panels_.data(), shape.step);
    // Not at_least: the place is free for a later panel only when this rank is done with this one.
    if (!travels(shape)) {
        place_.job().wait(arrived(shape.step, 0), Comparison::equal, shape.step + 1);
        return at(panels_.at(place_.peer_in_row(shape.owner_column)).data(), shape.step);
    }
    const Way way = way_of(shape);
    const std::vector<int> parts = way.route.arrivals(way.position);
    for (; passed_ < parts.size(); ++passed_) {
        place_.job().wait(arrived(shape.step, parts[passed_]), Comparison::equal, shape.step + 1);
        pass_on(shape, way, parts[passed_]);
    }
    passed_ = 0;
    return at(panels_.data(), shape.step);
}

void PanelBoard::done(std::size_t step) {
    for (int column = 0; column < place_.grid().columns; ++column)
        if (column != place_.column())
            place_.job().signal(place_.peer_in_row(column), done_[place_.column()], step + 1);
}

} // namespace kumiki::linpack
