#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "kernels/crews/one_memory/panels.hpp"
#include "kernels/matmul/blas.hpp"
#include "kernels/matmul/check.hpp"
#include "kernels/matmul/layout.hpp"
#include "kernels/matmul/matrix.hpp"
#include "kernels/matmul/task.hpp"

namespace kumiki::kernels::matmul {
namespace {

/// C entry by entry from the definition; exact because of the choice of entries.
std::vector<double> product_by_definition(std::size_t size) {
    std::vector<double> c(size * size, 0.0);
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t column = 0; column < size; ++column)
            for (std::size_t k = 0; k < size; ++k)
                c[row * size + column] += matrix_a.at(row, k) * matrix_b.at(k, column);
    return c;
}

bool passes(std::size_t size, const std::vector<double>& c, const Grid& grid = {}) {
    const Check check(size);
    std::vector<double> product(size, 0.0);
    for (std::size_t place = 0; place < grid.count(); ++place) {
        const Block block = block_at(grid, place, size, size);
        check.add(block.rows, block.columns, c.data() + block.rows.begin * size + block.columns.begin, size, product);
    }
    return check.passes(product);
}

TEST(Entries, are_multiples_of_a_256th_below_one_half_and_differ) {
    double sum = 0;
    for (std::size_t row = 0; row < 100; ++row)
        for (std::size_t column = 0; column < 100; ++column) {
            const double entry = matrix_a.at(row, column);
            ASSERT_LE(std::abs(entry), 0.5);
            ASSERT_EQ(entry * 256, std::round(entry * 256));
            sum += entry;
        }
    EXPECT_LT(std::abs(sum), 100); // 3.5 standard deviations of the sum of 10^4 entries, about
    EXPECT_NE(matrix_a.at(3, 4), matrix_a.at(4, 3));
    EXPECT_NE(matrix_a.at(3, 4), matrix_b.at(3, 4));
}

TEST(Entries, a_part_is_filled_as_the_whole_would_be) {
    const Range rows{3, 8}, columns{2, 6};
    std::vector<double> by_rows(20), by_columns(20);
    matrix_b.fill_by_rows(rows, columns, by_rows.data());
    matrix_b.fill_by_columns(rows, columns, by_columns.data());
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t column = 0; column < columns.size(); ++column) {
            const double expected = matrix_b.at(rows.begin + row, columns.begin + column);
            EXPECT_EQ(by_rows[row * columns.size() + column], expected);
            EXPECT_EQ(by_columns[column * rows.size() + row], expected);
        }
}

TEST(Multiply, panel_by_panel_and_tile_by_tile_has_the_bits_of_the_definition) {
    const std::size_t size = 61;
    const auto expected = product_by_definition(size);
    std::vector<double> a(size * size), b(size * size);
    matrix_a.fill_by_columns({0, size}, {0, size}, a.data());
    matrix_b.fill_by_rows({0, size}, {0, size}, b.data());
    for (const Grid tiles : {Grid{1, 1}, Grid{2, 3}, Grid{5, 1}}) {
        std::vector<double> c(size * size, std::nan(""));
        for (const Panel& panel : panels_of(size, {}, 17))
            for (std::size_t tile = 0; tile < tiles.count(); ++tile) {
                const Block block = block_at(tiles, tile, size, size);
                multiply(block.rows.size(), block.columns.size(), panel.depth.size(),
                         {a.data() + panel.depth.begin * size + block.rows.begin, size},
                         {b.data() + panel.depth.begin * size + block.columns.begin, size},
                         c.data() + block.rows.begin * size + block.columns.begin, size, panel.depth.begin > 0);
            }
        EXPECT_EQ(c, expected);
    }
}

TEST(Check, passes_the_right_product_however_it_is_cut) {
    const auto c = product_by_definition(43);
    for (const Grid grid : {Grid{1, 1}, Grid{1, 2}, Grid{3, 4}}) EXPECT_TRUE(passes(43, c, grid));
}

TEST(Check, finds_any_one_wrong_entry) {
    const std::size_t size = 19;
    const auto right = product_by_definition(size);
    for (std::size_t i = 0; i < right.size(); ++i) {
        auto wrong = right;
        wrong[i] += 1.0 / 65536; // the smallest difference that two exact products can have
        ASSERT_FALSE(passes(size, wrong)) << "entry " << i;
    }
}

TEST(Check, finds_swapped_entries_a_missing_panel_and_what_is_no_number) {
    const std::size_t size = 24;
    const auto right = product_by_definition(size);
    auto swapped = right;
    std::swap(swapped[5 * size + 3], swapped[5 * size + 4]);
    EXPECT_FALSE(passes(size, swapped));
    auto incomplete = right;
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t column = 0; column < size; ++column)
            incomplete[row * size + column] -= matrix_a.at(row, 7) * matrix_b.at(7, column);
    EXPECT_FALSE(passes(size, incomplete));
    auto no_number = right;
    no_number[0] = std::nan("");
    EXPECT_FALSE(passes(size, no_number));
}

TEST(Product, is_right_with_any_number_of_workers_and_panels_of_any_depth) {
    for (const int workers : {1, 2, 3, 7})
        for (const std::size_t depth : {0, 1, 10}) {
            OpenMpCrew crew(workers);
            Product product(crew, 43, depth, Fetch::in_place);
            for (int run = 0; run < 2; ++run) {
                product.run();
                EXPECT_TRUE(product.right()) << workers << " workers, depth " << depth << ", run " << run;
            }
        }
}

/// A crew that adds up wrongly when told to.
class Miscounting : public SequentialCrew {
public:
    explicit Miscounting(double error) : error_(error) {}
    void add_up(std::span<double> numbers) const { numbers[7] += error_; }

private:
    double error_;
};

TEST(MeasureOn, fails_when_the_product_is_wrong) {
    Task task;
    task.size = 16;
    task.budget.seconds = 0;
    for (const bool spoil : {false, true}) {
        Miscounting crew(spoil ? 1 : 0);
        testing::internal::CaptureStdout();
        const int code = measure_on(crew, task);
        const std::string output = testing::internal::GetCapturedStdout();
        EXPECT_EQ(code, spoil ? measure::validation_failed : measure::success);
        EXPECT_NE(output.find(spoil ? "\"validated\":false" : "\"validated\":true"), std::string::npos);
    }
}

} // namespace
} // namespace kumiki::kernels::matmul
