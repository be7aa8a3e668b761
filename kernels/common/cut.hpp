#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/crews/crew.hpp"
#include "kernels/common/split_choice.hpp"
#include "kernels/common/tile.hpp"

namespace kumiki::kernels {

/// Neighbours in one direction, or in both.
enum class Sides { west_east, north_south, all };

/// A grid of points with a border around them, cut into one tile for each worker.
class Cut {
public:
    /// `rows` x `columns` points within the border. Throws std::runtime_error if they cannot be cut for so many
    /// workers.
    Cut(std::size_t rows, std::size_t columns, int workers, const SplitChoice& split);

    const Tile& tile(int worker) const { return parts_[static_cast<std::size_t>(worker)].tile; }

    /// The number of points of the longest row or column of any tile.
    std::size_t longest_line() const;

    /// A side on which a worker has a neighbour, and the link to that neighbour.
    struct Neighbour {
        Side side;
        Link link;
    };
    std::span<const Neighbour> neighbours(int worker, Sides sides = Sides::all) const;

    /// A tile without its edges on those of the sides where the worker has a neighbour.
    Tile without_edges(int worker, Tile tile, Sides sides = Sides::all) const;

    /// Whether any worker has a neighbour on those sides.
    bool cuts(Sides sides) const;

private:
    struct Part {
        Tile tile;
        std::vector<Neighbour> neighbours; ///< west and east first
        std::size_t beside = 0;            ///< how many of them are west or east
    };

    /// The number of parts, of rows and of columns.
    struct Factors {
        int rows, columns;
    };
    bool fits(const Factors& factors) const;
    std::size_t surface(const Factors& factors) const;
    Factors smallest_surface(int workers) const;
    Part part(int worker) const;

    std::size_t rows_, columns_;
    Factors factors_;
    std::vector<Part> parts_; ///< by worker, row of tiles by row of tiles
};

/// The largest storage_length(tile) of any worker's tile.
template <class Length>
std::size_t longest_storage(const Cut& cut, int workers, Length storage_length) {
    std::size_t longest = 0;
    for (int worker = 0; worker < workers; ++worker) longest = std::max(longest, storage_length(cut.tile(worker)));
    return longest;
}

} // namespace kumiki::kernels
