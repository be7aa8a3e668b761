#include "linpack/swap_board.hpp"

#include <algorithm>

#include "linpack/prefault.hpp"

namespace kumiki::linpack {

namespace {

constexpr std::size_t piece_places = 2;
constexpr std::size_t ways = 2; // a tree or a ring

std::size_t count_of(int count) { return static_cast<std::size_t>(count); }

} // namespace

SwapBoard::SwapBoard(Place& place, std::size_t rows, std::size_t columns, std::size_t slabs, const Travel& travel)
    : place_(place),
      travel_(travel),
      rows_(rows),
      columns_(columns),
      copies_(place.columns_span_hosts() ? count_of(place.grid().rows) : 1),
      pieces_(place.job().allocate<double>(
          place.grid().rows == 1 ? 1 : std::max<std::size_t>(piece_places * copies_ * rows * columns, 1))),
      arrived_(place.job().allocate<Signal>(std::max<std::size_t>(slabs, 1) * count_of(place.grid().rows) * ways)) {
    prefault(place.job(), pieces_, place.column_peers_here());
}

std::size_t SwapBoard::index(std::size_t step, std::size_t column, int row) const {
    const std::size_t copy = copies_ == 1 ? 0 : count_of(row);
    return ((step % piece_places * copies_ + copy) * columns_ + column) * rows_;
}

Signal& SwapBoard::arrived(const Slab& slab, int row) {
    const std::size_t way = way_of(slab) == Swap::ring ? 1 : 0;
    return arrived_[(slab.number * count_of(place_.grid().rows) + count_of(row)) * ways + way];
}

double* SwapBoard::piece(std::size_t step, std::size_t column) {
    return pieces_.data() + index(step, column, place_.row());
}

void SwapBoard::publish(std::size_t step, const Slab& slab, std::size_t rows) {
    Job& job = place_.job();
    for (int row = 0; row < place_.grid().rows; ++row)
        if (const int peer = place_.peer_in_column(row); row != place_.row() && place_.together(job.rank(), peer))
            job.signal(peer, arrived(slab, place_.row()), step + 1);
    pass_on(step, slab, place_.row(), rows);
}

void SwapBoard::pass_on(std::size_t step, const Slab& slab, int source, std::size_t rows) {
    const std::vector<int> order = place_.senders_in_column(source);
    if (order.size() == 1) return;
    const auto position = static_cast<int>(std::ranges::find(order, place_.row()) - order.begin());
    const Route route = Route::of(way_of(slab), static_cast<int>(order.size()) - 1);
    double* const here = pieces_.data() + index(step, slab.columns.begin, source);
    for (const int next : route.next(position, 0))
        place_.job().put_signal(place_.peer_in_column(order[static_cast<std::size_t>(next)]), here,
                                std::span<const double>(here, rows * slab.columns.size()), arrived(slab, source),
                                step + 1);
}

const double* SwapBoard::await(std::size_t step, const Slab& slab, int row, std::size_t rows) {
    const std::size_t column = slab.columns.begin;
    if (row == place_.row()) return piece(step, column);
    place_.job().wait(arrived(slab, row), Comparison::at_least, step + 1);
    const int peer = place_.peer_in_column(row);
    if (place_.together(place_.job().rank(), peer)) return pieces_.at(peer).data() + index(step, column, row);
    pass_on(step, slab, row, rows);
    return pieces_.data() + index(step, column, row);
}

} // namespace kumiki::linpack
