#include "linpack/panel_board.hpp"

#include "linpack/lead.hpp"

namespace kumiki::linpack {

namespace {

constexpr std::size_t panel_places = 2;

} // namespace

PanelBoard::PanelBoard(Place& place, std::size_t block, std::size_t rows)
    : place_(place),
      block_(block),
      lead_(lead_for(block)),
      panel_size_((block + 1 + rows) * lead_),
      panels_(place.job().allocate<double>(panel_places * panel_size_)),
      arrived_(place.job().allocate<Signal>(panel_places)),
      done_(place.job().allocate<Signal>(static_cast<std::size_t>(place.grid().columns))) {}

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

void PanelBoard::publish(const StepShape& shape) {
    Job& job = place_.job();
    Signal& arrived = arrived_[shape.step % panel_places];
    const Panel mine = at(panels_.data(), shape.step);
    const std::size_t length = (block_ + 1 + shape.rows) * lead_;
    for (int column = 0; column < place_.grid().columns; ++column) {
        const int peer = place_.peer_in_row(column);
        if (column == place_.column()) continue;
        if (panels_.at(peer).empty())
            job.put_signal(peer, mine.top, std::span<const double>(mine.top, length), arrived, shape.step + 1);
        else job.signal(peer, arrived, shape.step + 1);
    }
}

Panel PanelBoard::await(const StepShape& shape) {
    if (shape.owner_column == place_.column()) return at(panels_.data(), shape.step);
    // Not at_least: the place is free for a later panel only when this rank is done with this one.
    place_.job().wait(arrived_[shape.step % panel_places], Comparison::equal, shape.step + 1);
    const std::span<double> owner = panels_.at(place_.peer_in_row(shape.owner_column));
    return at(owner.empty() ? panels_.data() : owner.data(), shape.step);
}

void PanelBoard::done(std::size_t step) {
    for (int column = 0; column < place_.grid().columns; ++column)
        if (column != place_.column())
            place_.job().signal(place_.peer_in_row(column), done_[place_.column()], step + 1);
}

} // namespace kumiki::linpack
