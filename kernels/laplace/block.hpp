#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/aligned.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tile.hpp"
#include "kernels/laplace/problem.hpp"

namespace kumiki::kernels::laplace {

/// Some contiguous rows of the grid, owned by one worker. The rows beside them (halos) are elsewhere: where the
/// neighbours' edges arrived, or in the boundary.
///
/// A step works in place: the new row i is stored where the old row i - 1 was, which is no longer needed; the next step
/// runs from the last row to the first and moves everything back. So a block takes the memory, and the cache, of one
/// grid and not of two: at 640 x 640 on two cores this is the difference between staying in a 2 MiB second-level cache
/// and streaming from the third.
class Block {
public:
    /// `rows` of 0 .. problem.size, at least one. `memory` is where the rows are: storage_length() elements or none.
    Block(const Problem& problem, Range rows, std::span<double> memory = {});
    static std::size_t storage_length(const Problem& problem, Range rows) {
        return (rows.size() + 1) * stride_of(problem);
    }

    /// Restores step 0: the initial guess, inside and in the halos of the first step, and the fixed boundary.
    void reset();

    /// One step. Afterwards edge() returns the rows that the neighbours need, and accept() must follow on the sides
    /// with a neighbour.
    void relax();
    /// The same step in two halves, so that the edges can travel while the inside is computed: after relax_edges(),
    /// early_edge() is what edge() will be after relax_inside(), which no longer reads the halos.
    void relax_edges();
    void relax_inside();

    /// North or south; valid until the next step.
    std::span<const double> edge(Side side) const {
        return {row(side == Side::north ? 0 : rows_.size() - 1), columns()};
    }
    /// Valid until the next relax_edges().
    std::span<const double> early_edge(Side side) const { return {early_edges_[index(side)].data(), columns()}; }
    /// Stores the neighbour's edge, which must stay where it is during the next step.
    void accept(Side side, const double* edge) { halos_[index(side)] = edge; }

    std::size_t columns() const { return problem_.size; }

    /// A sum over the cells that changes if any bit of any cell changes, and does not depend on how the grid is cut
    /// into blocks: the sums of all blocks, added modulo 2^64, are that of the grid.
    std::uint64_t checksum() const;
    /// The sum of squared differences from the solution.
    double squared_error() const;

private:
    /// The distance of two rows.
    static std::size_t stride_of(const Problem& problem);
    static std::size_t index(Side side) { return side == Side::north ? 0 : 1; }
    bool at_boundary(Side side) const { return side == Side::north ? rows_.begin == 0 : rows_.end == problem_.size; }

    double* slot(std::size_t number) { return storage_.data() + number * stride_ + lead; }
    const double* slot(std::size_t number) const { return storage_.data() + number * stride_ + lead; }
    bool moving_up() const { return step_ % 2 == 0; }
    /// Row `i` before the present step, at its first column; old_row(-1) and old_row(rows) are the halos.
    const double* old_row(std::ptrdiff_t i) const;
    const double* row(std::size_t i) const { return slot(moving_up() ? i + 1 : i); }
    double* new_row(std::size_t i) { return slot(moving_up() ? i : i + 1); }
    void relax_row_at(std::size_t i, double* next) const;
    void set_boundary_columns(std::size_t i, double* next) const;
    template <class Compute>
    void sweep(Compute compute);

    /// The doubles before the first column of a row: a whole cache line, so that the first column is aligned; the last
    /// of them is the west boundary.
    static constexpr std::size_t lead = line_bytes / sizeof(double);

    Problem problem_;
    Range rows_;
    std::size_t stride_;
    std::size_t step_ = 0;
    Storage<double> storage_; ///< one row more than the block has
    std::array<AlignedVector<double>, 2> early_edges_;
    std::array<AlignedVector<double>, 2> first_halos_; ///< the boundary, or the initial guess of the neighbour's row
    std::array<const double*, 2> halos_{};
};

} // namespace kumiki::kernels::laplace
