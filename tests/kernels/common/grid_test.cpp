#include "kernels/common/grid.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace kumiki::kernels {
namespace {

TEST(Grid, is_as_square_as_the_count_allows) {
    const auto shape = [](std::size_t count) {
        const Grid grid = Grid::near_square(count);
        EXPECT_EQ(grid.count(), count);
        return std::pair{grid.rows, grid.columns};
    };
    EXPECT_EQ(shape(1), (std::pair<std::size_t, std::size_t>{1, 1}));
    EXPECT_EQ(shape(2), (std::pair<std::size_t, std::size_t>{2, 1}));
    EXPECT_EQ(shape(4), (std::pair<std::size_t, std::size_t>{2, 2}));
    EXPECT_EQ(shape(7), (std::pair<std::size_t, std::size_t>{7, 1}));
    EXPECT_EQ(shape(12), (std::pair<std::size_t, std::size_t>{4, 3}));
}

TEST(Grid, numbers_its_places_row_by_row) {
    const Grid grid{3, 4};
    for (std::size_t place = 0; place < grid.count(); ++place)
        EXPECT_EQ(grid.place(grid.row_of(place), grid.column_of(place)), place);
    EXPECT_EQ(grid.row_of(5), 1u);
    EXPECT_EQ(grid.column_of(5), 1u);
}

} // namespace
} // namespace kumiki::kernels
