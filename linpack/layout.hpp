#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "linpack/block_map.hpp"
#include "linpack/grid.hpp"

namespace kumiki::linpack {

/// How the N x (N + 1) matrix [A | b] lies over the grid: rows dealt in turn, block columns by a table of owners.
struct Layout {
    BlockMap rows, columns;

    std::size_t size() const { return rows.length(); }
    std::size_t block() const { return rows.block(); }
    /// Block columns that are factored; b is none of them.
    std::size_t steps() const { return rows.blocks(); }

    /// A block that is wider than the matrix counts as one that is as wide, which deals it out alike, so that nobody
    /// takes memory for more.
    static std::size_t block_within(std::size_t size, std::size_t wanted) { return std::min(wanted, size + 1); }
    /// `weights`: the share of each process column; empty: equal.
    static Layout of(std::size_t size, std::size_t wanted_block, const Grid& grid,
                     std::span<const double> weights = {}) {
        const std::size_t columns = size + 1, block = block_within(size, wanted_block);
        const std::vector<double> equal(static_cast<std::size_t>(grid.columns), 1.0);
        return {BlockMap::cyclic(size, block, grid.rows),
                BlockMap(columns, block, grid.columns,
                         weighted_owners(blocks_in(columns, block), weights.empty() ? equal : weights))};
    }
};

} // namespace kumiki::linpack
