#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kumiki/kumiki.hpp"

namespace kumiki::linpack {

/// A grid of processes: `rows` x `columns` ranks, numbered along the rows or along the columns.
struct Grid {
    int rows = 1, columns = 1;
    bool by_rows = true;

    /// In 64 bits, because a grid that is asked for may be larger than any job.
    std::int64_t size() const { return std::int64_t{rows} * columns; }
    bool has(int rank) const { return rank < size(); }
    int rank_at(int row, int column) const { return by_rows ? row * columns + column : column * rows + row; }
    int row_of(int rank) const { return by_rows ? rank / columns : rank % rows; }
    int column_of(int rank) const { return by_rows ? rank % columns : rank / rows; }
};

/// This rank's place in the grid, and the ranks that it works with. Construction is collective over the job, which has
/// as many ranks as the grid, or more; those beyond it take no part.
class Place {
public:
    Place(Job& job, const Grid& grid);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    Job& job() const { return job_; }
    const Grid& grid() const { return grid_; }
    bool takes_part() const { return grid_.has(job_.rank()); }
    int row() const { return row_; }
    int column() const { return column_; }

    /// The ranks of this process row, numbered by their columns. Only at ranks that take part.
    Group& along_row() { return *along_row_; }
    /// The ranks of this process column, numbered by their rows. Only at ranks that take part.
    Group& along_column() { return *along_column_; }

    /// The rank in the job of another place in this process row, or in this process column.
    int peer_in_row(int column) const { return grid_.rank_at(row_, column); }
    int peer_in_column(int row) const { return grid_.rank_at(row, column_); }

    /// Whether two ranks of the job are on one host, and so read each other's memory.
    bool together(int rank, int other) const {
        return host_[static_cast<std::size_t>(rank)] == host_[static_cast<std::size_t>(other)];
    }
    /// The other ranks of this process row, and of this process column, that are on this host.
    std::vector<int> row_peers_here() const;
    std::vector<int> column_peers_here() const;

    /// The process column `source`, and behind it, in the order of the ring from there, those whose ranks in this
    /// process row are on other hosts than its rank is, so that they must be sent what that has.
    std::vector<int> senders_in_row(int source) const;
    /// The same of process rows, in this process column.
    std::vector<int> senders_in_column(int source) const;
    /// Whether any two ranks of a process column, whichever it is, are on different hosts. The same at every rank.
    bool columns_span_hosts() const;

private:
    Job& job_;
    Grid grid_;
    int row_, column_;
    std::optional<Group> along_row_, along_column_;
    std::vector<int> host_; ///< by rank of the job: the lowest rank of its host
};

} // namespace kumiki::linpack
