#include "kernels/common/cut.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace kumiki::kernels {
namespace {

constexpr std::size_t rows = 30, columns = 28;

TEST(Cut, covers_every_point_once) {
    for (const Split split : {Split::rows, Split::tiles})
        for (const int workers : {1, 2, 3, 4, 6, 7, 12, 30}) {
            const Cut cut(rows, columns, workers, split);
            std::set<std::pair<std::size_t, std::size_t>> covered;
            for (int worker = 0; worker < workers; ++worker) {
                const Tile& tile = cut.tile(worker);
                for (std::size_t row = tile.rows.begin; row < tile.rows.end; ++row)
                    for (std::size_t column = tile.columns.begin; column < tile.columns.end; ++column) {
                        EXPECT_TRUE(row > 0 && row <= rows && column > 0 && column <= columns);
                        EXPECT_TRUE(covered.emplace(row, column).second) << row << ", " << column;
                    }
            }
            EXPECT_EQ(covered.size(), rows * columns) << workers;
        }
}

TEST(Cut, a_neighbours_edge_lies_beyond_the_own_and_links_lead_there_and_back) {
    for (const Split split : {Split::rows, Split::tiles})
        for (const int workers : {1, 2, 6, 9, 11}) {
            const Cut cut(rows, columns, workers, split);
            for (int worker = 0; worker < workers; ++worker)
                for (const auto& [side, link] : cut.neighbours(worker)) {
                    EXPECT_EQ(cut.tile(worker).beyond(side), cut.tile(link.partner).edge(opposite(side)));
                    int back = 0;
                    for (const auto& [side_there, other] : cut.neighbours(link.partner))
                        if (other.partner == worker) {
                            ++back;
                            EXPECT_EQ(side_there, opposite(side));
                            EXPECT_EQ(other.line, link.partner_line);
                            EXPECT_EQ(other.partner_line, link.line);
                        }
                    EXPECT_EQ(back, 1) << worker << " -> " << link.partner;
                }
        }
}

TEST(Cut, neighbours_come_by_direction) {
    const Cut cut(rows, columns, 9, Split::tiles); // 3 x 3
    EXPECT_EQ(cut.neighbours(4).size(), 4u);
    EXPECT_EQ(cut.neighbours(4, Sides::west_east)[0].link.partner, 3);
    EXPECT_EQ(cut.neighbours(4, Sides::west_east)[1].link.partner, 5);
    EXPECT_EQ(cut.neighbours(4, Sides::north_south)[0].link.partner, 1);
    EXPECT_EQ(cut.neighbours(4, Sides::north_south)[1].link.partner, 7);
    EXPECT_EQ(cut.neighbours(0, Sides::north_south).size(), 1u);
    EXPECT_TRUE(cut.cuts(Sides::west_east));
    EXPECT_FALSE(Cut(rows, columns, 9, Split::rows).cuts(Sides::west_east));
    EXPECT_FALSE(Cut(rows, columns, 1, Split::tiles).cuts(Sides::all));
}

TEST(Cut, rows_are_the_papers_and_tiles_have_the_smallest_surface) {
    EXPECT_EQ(Cut(rows, columns, 4, Split::rows).tile(3).columns, (Range{1, 29}));
    EXPECT_EQ(Cut(rows, columns, 4, Split::tiles).tile(3), (Tile{{16, 31}, {15, 29}}));
    EXPECT_EQ(Cut(rows, columns, 6, Split::tiles).tile(5), (Tile{{21, 31}, {15, 29}})) << "3 x 2: rows are longer";
    EXPECT_EQ(Cut(30, 30, 2, Split::tiles).tile(1).columns, (Range{1, 31})) << "rows are as good, and need no packing";
    EXPECT_EQ(Cut(rows, columns, 6, Split::tiles).longest_line(), 14u);
}

TEST(Cut, refuses_a_number_of_workers_that_it_cannot_be_cut_for) {
    const auto refusal = [](int workers, const SplitChoice& split) -> std::string {
        try {
            Cut(rows, columns, workers, split);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(refusal(31, {Split::rows, "planes", "pencils"}).find("fewer workers, or --split pencils"),
              std::string::npos);
    EXPECT_NE(refusal(31, Split::tiles).find("another number of workers"), std::string::npos) << "31 is prime";
    EXPECT_EQ(refusal(31, SplitChoice::rows_alone()).find("--split"), std::string::npos)
        << "where there is no such option";
    EXPECT_EQ(refusal(32, Split::tiles), "");
}

TEST(Tile, without_its_edges_nothing_is_left_of_a_thin_one_and_lines_between_cover_the_rest_once) {
    for (const std::size_t high : {1u, 2u, 3u, 5u})
        for (const std::size_t wide : {1u, 2u, 4u}) {
            const Tile outer{{3, 3 + high}, {7, 7 + wide}};
            Tile inner = outer;
            for (const Side side : {Side::west, Side::east, Side::north, Side::south}) inner = inner.without(side);
            std::multiset<std::pair<std::size_t, std::size_t>> visited;
            const auto visit = [&](const Tile& tile) {
                for (std::size_t row = tile.rows.begin; row < tile.rows.end; ++row)
                    for (std::size_t column = tile.columns.begin; column < tile.columns.end; ++column)
                        visited.emplace(row, column);
            };
            for_lines_between(outer, inner, [&](const Tile& line) {
                EXPECT_TRUE(line.rows.size() == 1 || line.columns.size() == 1);
                visit(line);
            });
            visit(inner);
            EXPECT_EQ(visited.size(), high * wide) << high << " x " << wide;
            EXPECT_EQ(std::set(visited.begin(), visited.end()).size(), visited.size());
        }
}

} // namespace
} // namespace kumiki::kernels
