#include "linpack/swap_board.hpp"

#include <algorithm>

namespace kumiki::linpack {

namespace {

constexpr std::size_t piece_places = 2;

std::size_t count_of(int count) { return static_cast<std::size_t>(count); }

} // namespace

SwapBoard::SwapBoard(Place& place, std::size_t rows, std::size_t columns, std::size_t slabs)
    : place_(place),
      rows_(rows),
      columns_(columns),
      copies_(copies_needed(place)),
      pieces_(place.job().allocate<double>(
          place.grid().rows == 1 ? 1 : std::max<std::size_t>(piece_places * copies_ * rows * columns, 1))),
      arrived_(place.job().allocate<Signal>(std::max<std::size_t>(slabs, 1) * count_of(place.grid().rows))) {}

/// The same at every rank of the job, for regions are equally large everywhere.
std::size_t SwapBoard::copies_needed(Place& place) {
    const auto probe = place.job().allocate<std::byte>(1);
    bool far = false;
    if (place.takes_part())
        for (int row = 0; row < place.grid().rows; ++row) far |= probe.at(place.peer_in_column(row)).empty();
    return place.job().all_reduce(far ? 1 : 0, Operation::max) != 0 ? count_of(place.grid().rows) : 1;
}

std::size_t SwapBoard::index(std::size_t step, std::size_t column, int row) const {
    const std::size_t copy = copies_ == 1 ? 0 : count_of(row);
    return ((step % piece_places * copies_ + copy) * columns_ + column) * rows_;
}

Signal& SwapBoard::arrived(std::size_t slab, int row) {
    return arrived_[slab * count_of(place_.grid().rows) + count_of(row)];
}

double* SwapBoard::piece(std::size_t step, std::size_t column) {
    return pieces_.data() + index(step, column, place_.row());
}

void SwapBoard::publish(std::size_t step, std::size_t slab, std::size_t column, std::size_t length) {
    Job& job = place_.job();
    double* const mine = piece(step, column);
    Signal& signal = arrived(slab, place_.row());
    for (int row = 0; row < place_.grid().rows; ++row) {
        const int peer = place_.peer_in_column(row);
        if (row == place_.row()) continue;
        if (pieces_.at(peer).empty())
            job.put_signal(peer, mine, std::span<const double>(mine, length), signal, step + 1);
        else job.signal(peer, signal, step + 1);
    }
}

const double* SwapBoard::await(std::size_t step, std::size_t slab, std::size_t column, int row) {
    if (row == place_.row()) return piece(step, column);
    place_.job().wait(arrived(slab, row), Comparison::at_least, step + 1);
    const std::span<double> there = pieces_.at(place_.peer_in_column(row));
    return (there.empty() ? pieces_.data() : there.data()) + index(step, column, row);
}

} // namespace kumiki::linpack
