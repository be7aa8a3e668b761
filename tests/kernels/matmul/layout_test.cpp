#include "kernels/matmul/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kumiki::kernels::matmul {
namespace {

TEST(BlockAt, the_blocks_tile_the_matrix) {
    const Grid grid{3, 2};
    std::vector<int> covered(7 * 11, 0);
    for (std::size_t place = 0; place < grid.count(); ++place) {
        const Block block = block_at(grid, place, 7, 11);
        for (std::size_t row = block.rows.begin; row < block.rows.end; ++row)
            for (std::size_t column = block.columns.begin; column < block.columns.end; ++column)
                ++covered[row * 11 + column];
    }
    EXPECT_TRUE(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
}

TEST(PanelsOf, cut_the_common_dimension_and_lie_whole_at_one_owner) {
    for (const std::size_t size : {1u, 5u, 37u, 1800u})
        for (const Grid grid : {Grid{1, 1}, Grid{1, 2}, Grid{2, 2}, Grid{2, 3}, Grid{3, 4}, Grid{1, 7}})
            for (const std::size_t width : {0u, 1u, 10u, 450u}) {
                std::size_t reached = 0;
                for (const Panel& panel : panels_of(size, grid, width)) {
                    ASSERT_EQ(panel.depth.begin, reached);
                    ASSERT_GT(panel.depth.size(), 0u);
                    ASSERT_LE(panel.depth.size(), width == 0 ? size : width);
                    const Range a = share(size, grid.columns, panel.a_column), b = share(size, grid.rows, panel.b_row);
                    ASSERT_TRUE(a.begin <= panel.depth.begin && panel.depth.end <= a.end);
                    ASSERT_TRUE(b.begin <= panel.depth.begin && panel.depth.end <= b.end);
                    reached = panel.depth.end;
                }
                ASSERT_EQ(reached, size);
            }
}

TEST(BeginningAtRow, keeps_the_panels_and_puts_own_ones_first) {
    const Grid grid{3, 2};
    const auto in_order = panels_of(60, grid, 7);
    for (std::size_t row = 0; row < grid.rows; ++row) {
        auto rotated = beginning_at_row(in_order, row);
        EXPECT_EQ(rotated.front().b_row, row);
        std::sort(rotated.begin(), rotated.end(),
                  [](const Panel& x, const Panel& y) { return x.depth.begin < y.depth.begin; });
        ASSERT_EQ(rotated.size(), in_order.size());
        for (std::size_t i = 0; i < rotated.size(); ++i) EXPECT_EQ(rotated[i].depth, in_order[i].depth);
    }
}

} // namespace
} // namespace kumiki::kernels::matmul
