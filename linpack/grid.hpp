#pragma once

#include <optional>

#include "kumiki/kumiki.hpp"

namespace kumiki::linpack {

/// A grid of processes: `rows` x `columns` ranks, numbered along the rows or along the columns.
struct Grid {
    int rows = 1, columns = 1;
    bool by_rows = true;

    int size() const { return rows * columns; }
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
    bool takes_part() const { return job_.rank() < grid_.size(); }
    int row() const { return row_; }
    int column() const { return column_; }

    /// The ranks of this process row, numbered by their columns. Only at ranks that take part.
    Group& along_row() { return *along_row_; }
    /// The ranks of this process column, numbered by their rows. Only at ranks that take part.
    Group& along_column() { return *along_column_; }

    /// The rank in the job of another place in this process row, or in this process column.
    int peer_in_row(int column) const { return grid_.rank_at(row_, column); }
    int peer_in_column(int row) const { return grid_.rank_at(row, column_); }

private:
    Job& job_;
    Grid grid_;
    int row_, column_;
    std::optional<Group> along_row_, along_column_;
};

} // namespace kumiki::linpack
