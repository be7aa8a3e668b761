#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/common/aligned.hpp"
#include "kernels/common/range.hpp"
#include "kernels/laplace/problem.hpp"

namespace kumiki::kernels::laplace {

enum class Side { north = 0, south = 1 };
inline constexpr std::array<Side, 2> sides{Side::north, Side::south};
constexpr Side opposite(Side side) { return side == Side::north ? Side::south : Side::north; }

/// Some contiguous rows of the grid, owned by one thread, and the rows of its neighbours beside them (halos).
///
/// A step works in place: the new row i goes where the old row i - 1 lay, which nothing reads any more; the next step
/// runs from the last row to the first and moves everything back. So a block takes the memory, and the cache, of one
/// grid and not of two: at 640 x 640 on two cores this is the difference between staying in a 2 MiB second-level cache
/// and streaming from the third.
///
/// Each side has two halo rows, read in even and odd steps. A neighbour may therefore deliver its edge of step k while
/// this block is still at step k, and two steps ahead it cannot be, because it needs our edge of step k first. No other
/// flow control is needed.
class Block {
public:
    /// `rows` of 0 .. problem.size, at least one.
    Block(const Problem& problem, Range rows);

    /// Doubles to reserve for a halo row that lives elsewhere (see place_halo).
    static std::size_t halo_length(const Problem& problem) { return round_to_line(problem.size); }

    /// Lets the halo rows of `side` live where others can write them; `even` and `odd` must be aligned to a line and
    /// outlive the block.
    void place_halo(Side side, double* even, double* odd);

    /// Back to step 0: the initial guess, inside and in the halos of the first step; beside it the fixed boundary.
    void reset();

    /// One step. Afterwards edge() is what the neighbours need.
    void relax();
    /// The same step in two halves, so that the edges can travel while the inside is computed: after relax_edges(),
    /// early_edge() is what edge() will be after relax_inside(). A neighbour that has our early edge may overwrite the
    /// halos of this step: relax_inside() does not read them.
    void relax_edges();
    void relax_inside();

    /// The halo row of `side` that step number `step` reads: to be filled before that step, not before step `step` - 2
    /// has ended.
    double* halo(Side side, std::size_t step) const { return halos_[index(side)][step % 2]; }
    const double* edge(Side side) const { return row(side == Side::north ? 0 : rows_.size() - 1); }
    const double* early_edge(Side side) const { return early_edges_[index(side)].data(); }

    bool at_boundary(Side side) const { return side == Side::north ? rows_.begin == 0 : rows_.end == problem_.size; }
    std::size_t columns() const { return problem_.size; }

    /// A sum over the cells that changes when any bit of any cell does, and that does not depend on how the grid is cut
    /// in blocks: the sums of all blocks, added modulo 2^64, are the grid's.
    std::uint64_t checksum() const;
    /// The sum of squared differences from the solution.
    double squared_error() const;

private:
    static std::size_t round_to_line(std::size_t doubles);
    static std::size_t index(Side side) { return static_cast<std::size_t>(side); }

    double* slot(std::size_t number) { return storage_.data() + number * stride_ + lead; }
    const double* slot(std::size_t number) const { return storage_.data() + number * stride_ + lead; }
    bool moving_up() const { return step_ % 2 == 0; }
    /// Row `i` before the step under way, at its first column; old_row(-1) and old_row(rows) are the halos.
    const double* old_row(std::ptrdiff_t i) const;
    const double* row(std::size_t i) const { return slot(moving_up() ? i + 1 : i); }
    double* new_row(std::size_t i) { return slot(moving_up() ? i : i + 1); }
    void relax_row_at(std::size_t i, double* next) const;
    void set_boundary_columns(std::size_t i, double* next) const;
    template <class Compute>
    void sweep(Compute compute);

    /// Doubles before the first column of a row: a whole line, so that the first column is aligned; its last one holds
    /// the west boundary.
    static constexpr std::size_t lead = line_bytes / sizeof(double);

    Problem problem_;
    Range rows_;
    std::size_t stride_;
    std::size_t step_ = 0;
    AlignedVector<double> storage_; ///< one slot more than there are rows
    std::array<AlignedVector<double>, 2> early_edges_;
    std::array<AlignedVector<double>, 2> own_halos_;
    std::array<std::array<double*, 2>, 2> halos_;
};

} // namespace kumiki::kernels::laplace
