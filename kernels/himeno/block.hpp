#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/aligned.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/cut.hpp"
#include "kernels/himeno/stencil.hpp"

namespace kumiki::kernels::himeno {

/// The grid cut into one block for each worker: planes are the rows of its tiles, and rows are their columns. The
/// grid's columns are not cut: the inner loop runs over them.
Cut cut_of(const Problem& problem, int workers, const SplitChoice& split);

/// Some contiguous planes and rows of the grid, with all their columns, computed by one worker. North and south of it
/// are the planes before and after, west and east the rows.
///
/// A plane lies in memory with the rows west and east of the block's own, which are the boundary or copies of the
/// neighbours' (ghosts); the planes north and south lie elsewhere. A sweep works in place: the new row goes where the
/// row one plane and one row before it lay, which nothing reads any more; the next sweep runs from the last row to the
/// first and moves everything back. So there is one array of pressures and not two, no line is fetched only to be
/// overwritten, and what a sweep touched last, and the cache still holds, the next one reads first.
class Block {
public:
    /// `tile`: the planes and rows, inside the problem's boundary, at least one of each. `memory` is where the
    /// pressures are: storage_length() elements or none.
    Block(const Problem& problem, const Tile& tile, std::span<float> memory = {});
    static std::size_t storage_length(const Problem& problem, const Tile& tile) {
        const std::size_t pitch = strips_of(problem) * strip_columns;
        return 2 * strip_columns + ((tile.rows.size() + 1) * (tile.columns.size() + 2) + 1) * pitch;
    }

    /// The number of elements in the longest edge of such a block: a plane with its ghosts, or a row of every plane.
    static std::size_t longest_edge(const Problem& problem, const Tile& tile) {
        return std::max(tile.rows.size(), tile.columns.size() + 2) * strips_of(problem) * strip_columns;
    }

    /// Restores the initial pressures; accept() must follow on every side with a neighbour.
    void reset();

    /// One sweep of Jacobi's method; returns the block's part of gosa. On sides with a neighbour, accept() must come
    /// first.
    double sweep();

    /// The values that the neighbour on that side needs before its next sweep; valid until the next sweep(). Those of
    /// north and south contain the ghosts of west and east, so accept these first: the stencil has diagonal neighbours.
    std::span<const float> edge(Side side);
    /// Stores the neighbour's edge. North's and south's must stay where they are during the next sweep.
    void accept(Side side, const float* edge);

    /// A sum over the points that changes if any bit of any pressure changes, and does not depend on how the grid is
    /// cut into blocks: the sums of all blocks, added modulo 2^64, are that of the grid.
    std::uint64_t checksum() const;

private:
    static std::size_t strips_of(const Problem& problem) {
        return (problem.columns + strip_columns - 1) / strip_columns;
    }
    static std::size_t index(Side side) { return static_cast<std::size_t>(side); }
    std::size_t pitch() const { return strips_ * strip_columns; }
    std::size_t rows_with_ghosts() const { return rows_.size() + 2; }
    std::size_t plane_length() const { return rows_with_ghosts() * pitch(); }

    /// Where row `row` of plane `plane` begins, both counted from the block's first ghost row and first plane;
    /// `shifted`: by one plane and one row.
    std::size_t place(std::size_t plane, std::size_t row, bool shifted) const {
        const std::size_t rows = rows_with_ghosts();
        return strip_columns + (plane * rows + row + (shifted ? rows + 1 : 0)) * pitch();
    }
    float* row_at(std::size_t plane, std::size_t row) { return &storage_[place(plane, row, shifted_)]; }
    const float* row_at(std::size_t plane, std::size_t row) const { return &storage_[place(plane, row, shifted_)]; }
    /// Row 0 of the plane before and after `plane`.
    const float* north_of(std::size_t plane) const;
    const float* south_of(std::size_t plane) const;
    void set_coefficients();
    double move_row(std::size_t plane, std::size_t row);

    Problem problem_;
    Range planes_, rows_;
    std::size_t strips_;
    bool shifted_ = true;
    AlignedVector<Coefficients> coefficients_; ///< by plane, row and strip
    Storage<float> storage_; ///< one strip, the rows and room for the shift, one strip: the loops read beyond the ends
    std::array<AlignedVector<float>, 2> boundaries_; ///< the planes north and south if there is no neighbour
    std::array<const float*, 2> halos_{};            ///< the planes north and south
    std::array<AlignedVector<float>, 2> packed_;     ///< the edges west and east
};

} // namespace kumiki::kernels::himeno
