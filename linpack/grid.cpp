#include "linpack/grid.hpp"

namespace kumiki::linpack {

namespace {

/// The lowest rank of each rank's host: those whose memory a rank reaches are on its host.
std::vector<int> hosts_of(Job& job) {
    const auto probe = job.allocate<std::byte>(1);
    int lowest = 0;
    while (probe.at(lowest).empty()) ++lowest;
    return job.all_gather(lowest);
}

template <class Rank>
std::vector<int> apart_from(int source, int count, const Place& place, Rank rank) {
    std::vector<int> order{source};
    for (int distance = 1; distance < count; ++distance) {
        const int other = (source + distance) % count;
        if (!place.together(rank(source), rank(other))) order.push_back(other);
    }
    return order;
}

} // namespace

Place::Place(Job& job, const Grid& grid)
    : job_(job),
      grid_(grid),
      row_(grid.row_of(job.rank())),
      column_(grid.column_of(job.rank())),
      along_row_(job.split(takes_part() ? row_ : -1, column_)),
      along_column_(job.split(takes_part() ? column_ : -1, row_)),
      host_(hosts_of(job)) {}

std::vector<int> Place::row_peers_here() const {
    std::vector<int> peers;
    for (int column = 0; takes_part() && column < grid_.columns; ++column)
        if (column != column_ && together(job_.rank(), peer_in_row(column))) peers.push_back(peer_in_row(column));
    return peers;
}

std::vector<int> Place::column_peers_here() const {
    std::vector<int> peers;
    for (int row = 0; takes_part() && row < grid_.rows; ++row)
        if (row != row_ && together(job_.rank(), peer_in_column(row))) peers.push_back(peer_in_column(row));
    return peers;
}

std::vector<int> Place::senders_in_row(int source) const {
    return apart_from(source, grid_.columns, *this, [this](int column) { return peer_in_row(column); });
}

std::vector<int> Place::senders_in_column(int source) const {
    return apart_from(source, grid_.rows, *this, [this](int row) { return peer_in_column(row); });
}

bool Place::columns_span_hosts() const {
    for (int column = 0; column < grid_.columns; ++column)
        for (int row = 1; row < grid_.rows; ++row)
            if (!together(grid_.rank_at(0, column), grid_.rank_at(row, column))) return true;
    return false;
}

} // namespace kumiki::linpack
