#pragma once

#include <cstddef>

#include "kernels/common/grid.hpp"
#include "kernels/common/mixed.hpp"
#include "kernels/crews/blocks.hpp"

namespace kumiki::kernels::lu {

/// Which worker writes a block of the matrix first.
enum class Touch {
    owners, ///< its owner
    one     ///< one worker writes all blocks that it can access: those of its process, or of all processes
};

/// A = L x U for a matrix of size x size numbers in blocks of block x block, without pivoting (SPLASH-2).
struct Problem {
    std::size_t size = 1024;
    std::size_t block = 32; ///< a multiple of block_step

    /// The kernels compute this many rows and columns at once.
    static constexpr std::size_t block_step = 8;

    /// Blocks in a row or column of the matrix. The last ones may reach beyond the matrix.
    std::size_t blocks() const { return (size + block - 1) / block; }
    std::size_t block_length() const { return block * block; }
    double operations() const;

    /// An element of the matrix: in [-1/2, 1/2] beside the diagonal, and `size` on it, so that no pivot is needed.
    /// Beyond the matrix it goes on as the identity, which the factorisation leaves as it is.
    double element(std::size_t row, std::size_t column) const {
        if (row >= size || column >= size) return row == column ? 1.0 : 0.0;
        if (row == column) return static_cast<double>(size);
        const auto bits = mixed((row * size + column + 1) * 0x9e3779b97f4a7c15u);
        return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
    }
    /// Row `row` of the matrix times the vector of `size` numbers.
    double times(std::size_t row, const double* vector) const;
};

/// How the blocks are numbered and who owns them: block (i, j) belongs to the worker at (i mod rows, j mod columns) of
/// a near-square grid (2-D cyclic, as in SPLASH-2), so that all workers have a part of what remains at every step.
class Ownership {
public:
    Ownership(const Problem& problem, int workers)
        : blocks_(problem.blocks()), grid_(Grid::near_square(static_cast<std::size_t>(workers))) {}

    std::size_t number(std::size_t i, std::size_t j) const { return i * blocks_ + j; }
    int owner(std::size_t i, std::size_t j) const {
        return static_cast<int>(grid_.place(i % grid_.rows, j % grid_.columns));
    }
    int owner(std::size_t number) const { return owner(number / blocks_, number % blocks_); }

    /// Round 2 k: the diagonal block k, for the rest of its row and column. Round 2 k + 1: these, for the blocks that
    /// they change.
    BlockPlan plan(std::size_t block_length) const;

private:
    std::vector<int> owners_below(std::size_t k, std::size_t j) const;
    std::vector<int> owners_right_of(std::size_t i, std::size_t k) const;

    std::size_t blocks_;
    Grid grid_;
};

} // namespace kumiki::kernels::lu
