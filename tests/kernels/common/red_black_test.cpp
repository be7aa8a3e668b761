#include "kernels/common/red_black.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "kernels/common/openmp_crew.hpp"

namespace kumiki::kernels {
namespace {

TEST(RowsOfWorker, are_at_least_one_each) {
    EXPECT_EQ(rows_of_worker(5, 2, 0), (Range{0, 3}));
    EXPECT_EQ(rows_of_worker(5, 5, 4), (Range{4, 5}));
    EXPECT_THROW(rows_of_worker(5, 6, 0), std::runtime_error);
}

TEST(RedBlackRows, half_rows_are_the_points_of_a_colour_with_their_neighbours) {
    for (const std::size_t inner : {1u, 2u, 7u, 8u}) {
        RedBlackRows rows({3, 5}, inner);
        for (std::size_t row = 2; row <= 5; ++row)
            for (std::size_t column = 0; column < inner + 2; ++column)
                rows.at(row, column) = 100.0 * static_cast<double>(row) + static_cast<double>(column);
        for (const std::size_t row : {3u, 4u}) {
            std::size_t points = 0;
            for (const Colour colour : {Colour::red, Colour::black}) {
                const HalfRow half = rows.half_row(colour, row);
                points += half.count;
                for (std::size_t k = 0; k < half.count; ++k) {
                    const std::size_t column = RedBlackRows::first_column(colour, row) + 2 * k;
                    EXPECT_EQ((row + column) % 2, colour == Colour::red ? 0u : 1u);
                    const double here = rows.at(row, column);
                    EXPECT_EQ(half.own[k], here);
                    EXPECT_EQ(half.above[k], here - 100);
                    EXPECT_EQ(half.below[k], here + 100);
                    EXPECT_EQ(half.beside[k], here - 1);
                    EXPECT_EQ(half.beside[k + 1], here + 1);
                }
            }
            EXPECT_EQ(points, inner);
        }
    }
}

/// So many Gauss-Seidel sweeps, all red points before all black ones, by definition; 1 on the border.
std::vector<double> swept(std::size_t inner, std::size_t sweeps) {
    const std::size_t pitch = inner + 2;
    std::vector<double> values(pitch * pitch, 0.0);
    for (std::size_t i = 0; i < pitch; ++i)
        values[i] = values[i * pitch] = values[i * pitch + pitch - 1] = values[(pitch - 1) * pitch + i] = 1;
    for (std::size_t half_sweep = 0; half_sweep < 2 * sweeps; ++half_sweep)
        for (std::size_t row = 1; row <= inner; ++row)
            for (std::size_t column = 1; column <= inner; ++column) {
                double* const here = &values[row * pitch + column];
                if ((row + column) % 2 == half_sweep % 2) *here = (here[-1] + here[1] + here[-pitch] + here[pitch]) / 4;
            }
    return values;
}

TEST(RedBlackSweeps, all_red_points_are_computed_before_all_black_ones_with_any_number_of_workers) {
    constexpr std::size_t inner = 9, sweeps = 7;
    const auto wanted = swept(inner, sweeps);
    for (const int workers : {1, 2, 3, 4, 9}) { // nine rows, down to one each
        OpenMpCrew crew(workers);
        RedBlackSweeps<OpenMpCrew> solver(crew, inner, 2);
        std::atomic<int> wrong = 0;
        crew.run([&](auto& worker) {
            const Range own = rows_of_worker(inner, workers, worker.index());
            RedBlackRows rows({own.begin + 1, own.end + 1}, inner);
            for (std::size_t row = own.begin; row <= own.end + 1; ++row)
                for (std::size_t column = 0; column < inner + 2; ++column) {
                    const bool border = row == 0 || row > inner || column == 0 || column > inner;
                    rows.at(row, column) = border ? 1 : 0;
                }
            const auto relax = [&](Colour colour, std::size_t row) {
                const HalfRow half = rows.half_row(colour, row);
                for (std::size_t k = 0; k < half.count; ++k)
                    half.own[k] = (half.beside[k] + half.beside[k + 1] + half.above[k] + half.below[k]) / 4;
                return 1.0;
            };
            if (solver.run_until(worker, rows, 0.5, sweeps - 1, relax) != sweeps - 1) ++wrong;
            solver.run_times(worker, rows, 1, relax);
            for (std::size_t row = own.begin; row <= own.end + 1; ++row) // the ghosts too
                for (std::size_t column = 0; column < inner + 2; ++column)
                    if (rows.at(row, column) != wanted[row * (inner + 2) + column]) ++wrong;
        });
        EXPECT_EQ(wrong, 0) << workers;
    }
}

TEST(RedBlackSweeps, go_on_while_any_worker_has_a_point_that_changes) {
    constexpr std::size_t inner = 6;
    OpenMpCrew crew(3);
    RedBlackSweeps<OpenMpCrew> solver(crew, inner, 2);
    std::atomic<std::size_t> sweeps = 0;
    crew.run([&](auto& worker) {
        const std::size_t first = 2 * static_cast<std::size_t>(worker.index()) + 1;
        RedBlackRows rows({first, first + 2}, inner);
        double change = 16; // of row 5 alone; halved by each of its two colours
        sweeps += solver.run_until(worker, rows, 0.3, 100,
                                   [&](Colour, std::size_t row) { return row == 5 ? change /= 2 : 0.0; });
    });
    EXPECT_EQ(sweeps, 3u * 4u) << "after 2 sweeps 2 and 1, after 4 at most 0.25";
}

} // namespace
} // namespace kumiki::kernels
