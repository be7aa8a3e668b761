#include "linpack/pivot_board.hpp"

#include <algorithm>

namespace kumiki::linpack {

namespace {

/// What an entry begins with: the size of the candidate, and its index.
constexpr std::size_t head = 2;

/// Whether an entry is chosen before another. One of a rank without a row never is, even if what the others have is no
/// number: its index is that of no row.
bool before(const double* entry, const double* other) {
    if (entry[0] < 0 || other[0] < 0) return !(entry[0] < 0);
    return entry[0] > other[0] || (entry[0] == other[0] && entry[1] < other[1]);
}

} // namespace

PivotBoard::PivotBoard(Place& place, std::size_t block)
    : place_(place),
      entry_size_(head + 2 * block),
      entries_(place.job().allocate<double>(2 * static_cast<std::size_t>(place.grid().rows) * entry_size_)),
      arrived_(place.job().allocate<Signal>(static_cast<std::size_t>(place.grid().rows))) {}

/// Two entries in turn suffice: a rank writes into one again when it has the others' answers to the exchange between,
/// and these were given after the entry had been read.
double* PivotBoard::entry(int row) {
    const auto turn = static_cast<std::size_t>(exchanges_ % 2), rows = static_cast<std::size_t>(place_.grid().rows);
    return entries_.data() + (turn * rows + static_cast<std::size_t>(row)) * entry_size_;
}

Choice PivotBoard::exchange(const Candidate& mine, int current_owner, const double* current, std::size_t width) {
    ++exchanges_;
    Job& job = place_.job();
    double* const own = entry(place_.row());
    own[0] = mine.size;
    own[1] = static_cast<double>(mine.index);
    if (mine.row != nullptr) std::copy_n(mine.row, width, own + head);
    if (current != nullptr) std::copy_n(current, width, own + head + width);

    const std::span<const double> message(own, head + (current != nullptr ? 2 : 1) * width);
    for (int row = 0; row < place_.grid().rows; ++row)
        if (row != place_.row())
            job.put_signal(place_.peer_in_column(row), own, message, arrived_[place_.row()], exchanges_);

    // Every rank goes through the candidates in the same order, so that all choose alike, whatever they compare.
    int best = 0;
    for (int row = 0; row < place_.grid().rows; ++row) {
        if (row != place_.row()) job.wait(arrived_[row], Comparison::at_least, exchanges_);
        if (before(entry(row), entry(best))) best = row;
    }
    const double* const chosen = entry(best);
    return {static_cast<std::size_t>(chosen[1]), best, chosen + head, entry(current_owner) + head + width};
}

} // namespace kumiki::linpack
