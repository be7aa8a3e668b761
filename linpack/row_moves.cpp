#include "linpack/row_moves.hpp"

#include <map>
#include <utility>

namespace kumiki::linpack {

RowMoves moves_of(std::size_t first, std::size_t width, const double* pivots) {
    std::map<std::size_t, std::size_t> content; // place -> the row that it holds now; places not in it hold their own
    const auto at = [&](std::size_t place) -> std::size_t& { return content.try_emplace(place, place).first->second; };
    for (std::size_t i = 0; i < width; ++i) std::swap(at(first + i), at(static_cast<std::size_t>(pivots[i])));

    // A row from below the block that has come to place i stays there, for the swaps that follow concern later places.
    // So what lies below the block in the end has come from the block.
    RowMoves moves;
    for (std::size_t i = 0; i < width; ++i) moves.into.push_back(at(first + i));
    for (const auto& [place, row] : content)
        if (place >= first + width) moves.out.push_back({row, place});
    return moves;
}

LocalMoves local_moves(const RowMoves& moves, const BlockMap& rows, int process_row) {
    LocalMoves mine;
    for (std::size_t i = 0; i < moves.into.size(); ++i)
        if (rows.owner_of(moves.into[i]) == process_row) mine.into.push_back({rows.local_of(moves.into[i]), i});
    for (std::size_t i = 0; i < moves.out.size(); ++i)
        if (rows.owner_of(moves.out[i].to) == process_row) mine.out.push_back({rows.local_of(moves.out[i].to), i});
    return mine;
}

StepMoves StepMoves::of(const StepShape& shape, const Panel& panel, const BlockMap& rows, int process_rows) {
    StepMoves moves{moves_of(shape.first, shape.width, panel.pivots), {}, shape.owner_row};
    for (int row = 0; row < process_rows; ++row) moves.by_row.push_back(local_moves(moves.all, rows, row));
    return moves;
}

std::size_t StepMoves::sent_by(int row) const {
    return by_row[static_cast<std::size_t>(row)].into.size() + (row == owner_row ? all.out.size() : 0);
}

} // namespace kumiki::linpack
