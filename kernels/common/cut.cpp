#include "kernels/common/cut.hpp"

#include <algorithm>
#include <stdexcept>

namespace kumiki::kernels {

Cut::Cut(std::size_t rows, std::size_t columns, int workers, const SplitChoice& split)
    : rows_(rows), columns_(columns), factors_{workers, 1} {
    if (split.split == Split::tiles) factors_ = smallest_surface(workers);
    if (!fits(factors_)) throw std::runtime_error(split.refusal(workers));
    for (int worker = 0; worker < workers; ++worker) parts_.push_back(part(worker));
}

bool Cut::fits(const Factors& factors) const {
    return static_cast<std::size_t>(factors.rows) <= rows_ && static_cast<std::size_t>(factors.columns) <= columns_;
}

std::size_t Cut::surface(const Factors& factors) const {
    return static_cast<std::size_t>(factors.rows - 1) * columns_ +
           static_cast<std::size_t>(factors.columns - 1) * rows_;
}

Cut::Factors Cut::smallest_surface(int workers) const {
    Factors best{workers, 1};
    for (int columns = 2; columns <= workers; ++columns) {
        const Factors factors{workers / columns, columns};
        if (workers % columns != 0 || !fits(factors)) continue;
        if (!fits(best) || surface(factors) < surface(best)) best = factors;
    }
    return best;
}

Cut::Part Cut::part(int worker) const {
    const auto within_border = [](std::size_t count, int parts, int index) {
        const Range range = share(count, static_cast<std::size_t>(parts), static_cast<std::size_t>(index));
        return Range{range.begin + 1, range.end + 1};
    };
    const int row = worker / factors_.columns, column = worker % factors_.columns;
    Part made{{within_border(rows_, factors_.rows, row), within_border(columns_, factors_.columns, column)}, {}};
    const auto add = [&](bool is_there, Side side, int partner) {
        if (is_there)
            made.neighbours.push_back({side, {static_cast<int>(side), partner, static_cast<int>(opposite(side))}});
    };
    add(column > 0, Side::west, worker - 1);
    add(column + 1 < factors_.columns, Side::east, worker + 1);
    made.beside = made.neighbours.size();
    add(row > 0, Side::north, worker - factors_.columns);
    add(row + 1 < factors_.rows, Side::south, worker + factors_.columns);
    return made;
}

std::size_t Cut::longest_line() const {
    // The first worker has the largest share.
    return std::max(tile(0).rows.size(), tile(0).columns.size());
}

std::span<const Cut::Neighbour> Cut::neighbours(int worker, Sides sides) const {
    const Part& part = parts_[static_cast<std::size_t>(worker)];
    const std::span all(part.neighbours);
    switch (sides) {
    case Sides::west_east: return all.first(part.beside);
    case Sides::north_south: return all.subspan(part.beside);
    case Sides::all: break;
    }
    return all;
}

Tile Cut::without_edges(int worker, Tile tile, Sides sides) const {
    for (const auto& neighbour : neighbours(worker, sides)) tile = tile.without(neighbour.side);
    return tile;
}

bool Cut::cuts(Sides sides) const {
    switch (sides) {
    case Sides::west_east: return factors_.columns > 1;
    case Sides::north_south: return factors_.rows > 1;
    case Sides::all: break;
    }
    return parts_.size() > 1;
}

} // namespace kumiki::kernels
