#include "kernels/common/red_black.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels {
namespace {

TEST(RedBlackTile, lines_are_the_points_of_a_colour_with_their_neighbours) {
    for (const std::size_t first : {1u, 4u})
        for (const std::size_t wide : {1u, 2u, 7u, 8u}) {
            const Tile own{{3, 6}, {first, first + wide}};
            RedBlackTile tile(own);
            for (std::size_t row = 2; row <= 6; ++row)
                for (std::size_t column = first - 1; column <= first + wide; ++column)
                    tile.at(row, column) = 100.0 * static_cast<double>(row) + static_cast<double>(column);
            std::multiset<double> points;
            const auto look = [&](const Tile& part) {
                for (const Colour colour : {Colour::red, Colour::black}) {
                    const ColouredLine line = tile.line(colour, part);
                    for (std::size_t i = 0; i < line.count * line.step; i += line.step) {
                        const double here = line.own[i];
                        const auto row = static_cast<std::size_t>(here / 100),
                                   column = static_cast<std::size_t>(here) % 100;
                        EXPECT_TRUE(part.contains(row, column)) << here;
                        EXPECT_EQ((row + column) % 2, colour == Colour::red ? 0u : 1u);
                        EXPECT_EQ(line.above[i], here - 100);
                        EXPECT_EQ(line.below[i], here + 100);
                        EXPECT_EQ(line.beside[i], here - 1);
                        EXPECT_EQ(line.beside[i + 1], here + 1);
                        points.insert(here);
                    }
                }
            };
            for_lines_between(own, own.without(Side::west), look);
            for_lines_between(own.without(Side::west), Tile{{6, 6}, own.columns}, look);
            EXPECT_EQ(points.size(), 3 * wide);
            EXPECT_EQ(std::set(points.begin(), points.end()).size(), points.size());
        }
}

/// So many Gauss-Seidel sweeps, all red points before all black ones, by the definition; 1 on the border.
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

TEST(RedBlackSweeps, all_red_points_are_computed_before_all_black_ones_with_any_number_of_workers_and_cut) {
    constexpr std::size_t inner = 9, sweeps = 7;
    const auto wanted = swept(inner, sweeps);
    const auto expect = [&](int workers, Split split) {
        OpenMpCrew crew(workers);
        const Cut cut(inner, inner, workers, split);
        RedBlackSweeps<OpenMpCrew> solver(crew, cut, 2);
        std::atomic<int> wrong = 0;
        crew.run([&](auto& worker) {
            RedBlackTile tile(cut.tile(worker.index()));
            const auto& [rows, columns] = tile.own();
            const auto for_all = [&](auto visit) { // including the points beyond the edges, without the corners
                for (std::size_t row = rows.begin - 1; row <= rows.end; ++row)
                    for (std::size_t column = columns.begin - 1; column <= columns.end; ++column)
                        if ((row >= rows.begin && row < rows.end) || (column >= columns.begin && column < columns.end))
                            visit(row, column);
            };
            for_all([&](std::size_t row, std::size_t column) {
                const bool border = row == 0 || row > inner || column == 0 || column > inner;
                tile.at(row, column) = border ? 1 : 0;
            });
            const auto relax = [&](Colour colour, const Tile& part) {
                const ColouredLine line = tile.line(colour, part);
                for (std::size_t i = 0; i < line.count * line.step; i += line.step)
                    line.own[i] = (line.beside[i] + line.beside[i + 1] + line.above[i] + line.below[i]) / 4;
                return 1.0;
            };
            if (solver.run_until(worker, tile, 0.5, sweeps - 1, relax) != sweeps - 1) ++wrong;
            solver.run_times(worker, tile, 1, relax);
            for_all([&](std::size_t row, std::size_t column) {
                if (tile.at(row, column) != wanted[row * (inner + 2) + column]) ++wrong;
            });
        });
        EXPECT_EQ(wrong, 0) << workers;
    };
    for (const int workers : {1, 2, 3, 4, 9}) expect(workers, Split::rows); // nine rows, down to one each
    for (const int workers : {4, 6, 9, 27}) expect(workers, Split::tiles);  // 2 x 2, 3 x 2, 3 x 3, 9 x 3 and thus thin
}

TEST(RedBlackSweeps, go_on_while_any_worker_has_a_point_that_changes) {
    constexpr std::size_t inner = 6;
    OpenMpCrew crew(3);
    const Cut cut(inner, inner, 3, Split::rows);
    RedBlackSweeps<OpenMpCrew> solver(crew, cut, 2);
    std::atomic<std::size_t> sweeps = 0;
    crew.run([&](auto& worker) {
        RedBlackTile tile(cut.tile(worker.index()));
        double change = 16; // of row 5 only; each of its two colours halves it
        sweeps += solver.run_until(worker, tile, 0.3, 100,
                                   [&](Colour, const Tile& line) { return line.rows.begin == 5 ? change /= 2 : 0.0; });
    });
    EXPECT_EQ(sweeps, 3u * 4u) << "after 2 sweeps 2 and 1, after 4 at most 0.25";
}

} // namespace
} // namespace kumiki::kernels
