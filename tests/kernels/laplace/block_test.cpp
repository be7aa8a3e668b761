#include "kernels/laplace/block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace kumiki::kernels::laplace {
namespace {

/// Jacobi as in a textbook: two whole grids with their boundary; one is read, the other is written.
class Textbook {
public:
    explicit Textbook(const Problem& problem)
        : problem_(problem), width_(problem.size + 2), old_(width_ * width_, 0.0) {
        for (std::size_t i = 0; i < width_; ++i)
            for (const auto& [row, column] :
                 {std::pair{i, std::size_t{0}}, {i, width_ - 1}, {std::size_t{0}, i}, {width_ - 1, i}})
                old_[row * width_ + column] = problem.solution(row, column);
        new_ = old_;
    }
    void step() {
        for (std::size_t row = 1; row <= problem_.size; ++row)
            for (std::size_t column = 1; column <= problem_.size; ++column) {
                const double* const cell = &old_[row * width_ + column];
                new_[row * width_ + column] =
                    0.25 * ((cell[-static_cast<std::ptrdiff_t>(width_)] + cell[width_]) + (cell[-1] + cell[1]));
            }
        std::swap(old_, new_);
    }
    const double* row(std::size_t row) const { return &old_[(row + 1) * width_ + 1]; }

private:
    Problem problem_;
    std::size_t width_;
    std::vector<double> old_, new_;
};

/// A grid cut into blocks of the given heights, stepped one after another. The rows that a block accepts stay for one
/// step.
class Chain {
public:
    Chain(const Problem& problem, const std::vector<std::size_t>& heights) {
        std::size_t begin = 0;
        for (const std::size_t height : heights) {
            blocks.push_back(std::make_unique<Block>(problem, Range{begin, begin + height}));
            begin += height;
        }
        arrived_.resize(2 * blocks.size());
    }
    void step() {
        for (auto& block : blocks) block->relax();
        deliver(&Block::edge);
    }
    /// The edges are under way before the inside is computed, and the contents of this step's halos are destroyed in
    /// between.
    void step_in_halves() {
        for (auto& block : blocks) block->relax_edges();
        for (auto& edge : arrived_) std::ranges::fill(edge, std::numeric_limits<double>::quiet_NaN());
        deliver(&Block::early_edge);
        for (auto& block : blocks) block->relax_inside();
    }
    std::uint64_t checksum() const {
        std::uint64_t sum = 0;
        for (const auto& block : blocks) sum += block->checksum();
        return sum;
    }

    std::vector<std::unique_ptr<Block>> blocks;

private:
    void deliver(std::span<const double> (Block::*edge)(Side) const) {
        for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
            hand_over((*blocks[i].*edge)(Side::south), *blocks[i + 1], Side::north, arrived_[2 * i]);
            hand_over((*blocks[i + 1].*edge)(Side::north), *blocks[i], Side::south, arrived_[2 * i + 1]);
        }
    }
    static void hand_over(std::span<const double> edge, Block& to, Side side, std::vector<double>& place) {
        place.assign(edge.begin(), edge.end());
        to.accept(side, place.data());
    }

    std::vector<std::vector<double>> arrived_; ///< two for each border between blocks
};

std::vector<std::size_t> random_heights(std::size_t total, std::mt19937& random) {
    std::vector<std::size_t> heights;
    while (total > 0) {
        heights.push_back(1 + random() % total);
        total -= heights.back();
    }
    return heights;
}

/// Every row of a whole-grid block, read through the only row that a block shows: its first one.
void expect_rows_of(const Problem& problem, const Textbook& expected, Chain& rows_of_one) {
    for (std::size_t row = 0; row < problem.size; ++row) {
        const auto found = rows_of_one.blocks[row]->edge(Side::north);
        for (std::size_t column = 0; column < problem.size; ++column)
            ASSERT_EQ(found[column], expected.row(row)[column]) << "row " << row << ", column " << column;
    }
}

TEST(Block, has_the_very_bits_of_the_textbook) {
    for (const std::size_t size : {1u, 2u, 3u, 8u, 13u, 17u, 503u /* rows a page apart but for the padding */}) {
        const Problem problem{size, 0};
        Textbook textbook(problem);
        Chain single_rows(problem, std::vector<std::size_t>(size, 1));
        for (std::size_t step = 1; step <= 5; ++step) {
            textbook.step();
            single_rows.step();
            expect_rows_of(problem, textbook, single_rows);
        }
    }
}

TEST(Block, any_cut_gives_the_same_grid) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 50; ++trial) {
        const Problem problem{1 + random() % 40, 0};
        Chain single_rows(problem, std::vector<std::size_t>(problem.size, 1));
        Chain cut(problem, random_heights(problem.size, random));
        Chain halves(problem, random_heights(problem.size, random));
        for (std::size_t step = 1; step <= 6; ++step) {
            single_rows.step();
            cut.step();
            halves.step_in_halves();
            ASSERT_EQ(cut.checksum(), single_rows.checksum()) << "size " << problem.size << ", step " << step;
            ASSERT_EQ(halves.checksum(), single_rows.checksum()) << "size " << problem.size << ", step " << step;
        }
    }
}

TEST(Block, reset_begins_anew) {
    const Problem problem{12, 0};
    Chain chain(problem, {5, 7});
    const std::uint64_t at_first = chain.checksum();
    for (std::size_t step = 1; step <= 3; ++step) chain.step();
    const std::uint64_t after_three = chain.checksum();
    EXPECT_NE(after_three, at_first);
    for (auto& block : chain.blocks) block->reset();
    EXPECT_EQ(chain.checksum(), at_first);
    for (std::size_t step = 1; step <= 3; ++step) chain.step();
    EXPECT_EQ(chain.checksum(), after_three);
}

TEST(Block, converges_to_the_solution) {
    const Problem problem{8, 0};
    Block grid(problem, {0, problem.size});
    for (int step = 0; step < 1000; ++step) grid.relax();
    EXPECT_LT(grid.squared_error(), 1e-28);
}

} // namespace
} // namespace kumiki::kernels::laplace
