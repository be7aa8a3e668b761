#include "kernels/diffusion/slab.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kumiki::kernels::diffusion {
namespace {

constexpr std::size_t length = 37, lines = 19;
constexpr double steepness = 3.5;
const Splitting splitting(steepness);
constexpr std::size_t enough = 300; // iterations: (2 s / (1 + 2 s))^300 is 4e-18

double value(std::size_t i, std::size_t line) { return std::sin(1.0 + 0.7 * static_cast<double>(i * lines + line)); }

constexpr Tile whole{{1, lines + 1}, {1, length + 1}};

double& at(Slab& slab, std::size_t i, std::size_t line) { return slab.at(line + 1, i + 1); }

Slab filled() {
    Slab slab(whole);
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < lines; ++line) at(slab, i, line) = value(i, line);
    return slab;
}

/// A point of the slab, or a zero around it: `i` and `line` count from the one before the first.
double around(Slab& slab, std::size_t i, std::size_t line) {
    const bool inside = i > 0 && i <= length && line > 0 && line <= lines;
    return inside ? at(slab, i - 1, line - 1) : 0;
}
/// (1 + factor D), along a line and across.
double applied_along(Slab& slab, double factor, std::size_t i, std::size_t line) {
    const double sides = around(slab, i, line + 1) + around(slab, i + 2, line + 1);
    return at(slab, i, line) + factor * (sides - 2 * at(slab, i, line));
}
double applied_across(Slab& slab, double factor, std::size_t i, std::size_t line) {
    const double sides = around(slab, i + 1, line) + around(slab, i + 1, line + 2);
    return at(slab, i, line) + factor * (sides - 2 * at(slab, i, line));
}

template <class Compare>
void for_all(Compare compare) {
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < lines; ++line) compare(i, line);
}

void half_step(Sides direction, Slab& slab, std::size_t iterations, Leave leave) {
    slab.begin();
    for (std::size_t i = 0; i < iterations; ++i) {
        slab.iterate(direction, splitting, whole);
        slab.turn();
    }
    slab.end(leave);
}

TEST(Slab, many_iterations_solve_every_line) {
    Slab along = filled(), across = filled();
    along.half_step_along(splitting, enough, Leave::values);
    half_step(Sides::north_south, across, enough, Leave::values);
    for_all([&](std::size_t i, std::size_t line) {
        EXPECT_NEAR(applied_along(along, -steepness, i, line), value(i, line), 1e-14) << i << ", " << line;
        EXPECT_NEAR(applied_across(across, -steepness, i, line), value(i, line), 1e-14) << i << ", " << line;
    });
}

TEST(Slab, an_iteration_starts_from_the_right_side) {
    Slab before = filled(), along = filled(), across = filled();
    along.half_step_along(splitting, 1, Leave::right_sides);
    half_step(Sides::north_south, across, 1, Leave::right_sides);
    const auto left = [&](double difference, std::size_t i, std::size_t line) { // 2 v - r
        return 2 * (value(i, line) + steepness / (1 + 2 * steepness) * difference) - value(i, line);
    };
    for_all([&](std::size_t i, std::size_t line) {
        const double along_line = applied_along(before, 1, i, line) - value(i, line);
        const double across_lines = applied_across(before, 1, i, line) - value(i, line);
        EXPECT_NEAR(at(along, i, line), left(along_line, i, line), 1e-14) << i << ", " << line;
        EXPECT_NEAR(at(across, i, line), left(across_lines, i, line), 1e-14) << i << ", " << line;
    });
}

TEST(Slab, all_lines_at_once_leave_the_bits_of_one_after_the_other) {
    Slab one_by_one = filled(), at_once = filled();
    one_by_one.half_step_along(splitting, 7, Leave::right_sides);
    half_step(Sides::west_east, at_once, 7, Leave::right_sides);
    for_all([&](std::size_t i, std::size_t line) { EXPECT_EQ(at(at_once, i, line), at(one_by_one, i, line)); });
}

TEST(Slab, takes_the_ghosts_of_its_direction) {
    for (const Sides direction : {Sides::north_south, Sides::west_east}) {
        const Tile point{{4, 5}, {7, 8}};
        Slab slab(point);
        slab.at(4, 7) = 2;
        slab.begin();
        const bool across = direction == Sides::north_south;
        const double before = 3, after = 5, wrong = 100;
        slab.accept(Side::north, across ? &before : &wrong);
        slab.accept(Side::south, across ? &after : &wrong);
        slab.accept(Side::west, across ? &wrong : &before);
        slab.accept(Side::east, across ? &wrong : &after);
        slab.iterate(direction, splitting, point);
        slab.turn();
        for (const Side side : {Side::north, Side::south, Side::west, Side::east})
            EXPECT_NEAR(slab.edge(side)[0], (2 + steepness * (3 + 5)) / (1 + 2 * steepness), 1e-15);
    }
}

TEST(Slab, make_right_sides_takes_the_difference_along_the_line) {
    Slab before = filled(), after = filled();
    after.begin();
    after.make_right_sides(steepness);
    for_all([&](std::size_t i, std::size_t line) {
        EXPECT_NEAR(at(after, i, line), applied_along(before, steepness, i, line), 1e-14);
    });
}

} // namespace
} // namespace kumiki::kernels::diffusion
