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

Slab filled() {
    Slab slab(length, lines);
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < lines; ++line) slab.at(i, line) = value(i, line);
    return slab;
}

/// A point of the slab, or a zero around it: `i` and `line` count from the one before the first.
double around(Slab& slab, std::size_t i, std::size_t line) {
    const bool inside = i > 0 && i <= length && line > 0 && line <= lines;
    return inside ? slab.at(i - 1, line - 1) : 0;
}
/// (1 + factor D), along a line and across.
double applied_along(Slab& slab, double factor, std::size_t i, std::size_t line) {
    const double sides = around(slab, i, line + 1) + around(slab, i + 2, line + 1);
    return slab.at(i, line) + factor * (sides - 2 * slab.at(i, line));
}
double applied_across(Slab& slab, double factor, std::size_t i, std::size_t line) {
    const double sides = around(slab, i + 1, line) + around(slab, i + 1, line + 2);
    return slab.at(i, line) + factor * (sides - 2 * slab.at(i, line));
}

template <class Compare>
void for_all(Compare compare) {
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < lines; ++line) compare(i, line);
}

void half_step_across(Slab& slab, std::size_t iterations, Leave leave) {
    slab.begin();
    for (std::size_t i = 0; i < iterations; ++i) {
        slab.iterate_across(splitting, {0, lines});
        slab.turn();
    }
    slab.end(leave);
}

TEST(Slab, many_iterations_solve_every_line) {
    Slab along = filled(), across = filled();
    along.half_step_along(splitting, enough, Leave::values);
    half_step_across(across, enough, Leave::values);
    for_all([&](std::size_t i, std::size_t line) {
        EXPECT_NEAR(applied_along(along, -steepness, i, line), value(i, line), 1e-14) << i << ", " << line;
        EXPECT_NEAR(applied_across(across, -steepness, i, line), value(i, line), 1e-14) << i << ", " << line;
    });
}

TEST(Slab, an_iteration_starts_from_the_right_side) {
    Slab before = filled(), along = filled(), across = filled();
    along.half_step_along(splitting, 1, Leave::right_sides);
    half_step_across(across, 1, Leave::right_sides);
    const auto left = [&](double difference, std::size_t i, std::size_t line) { // 2 v - r
        return 2 * (value(i, line) + steepness / (1 + 2 * steepness) * difference) - value(i, line);
    };
    for_all([&](std::size_t i, std::size_t line) {
        const double along_line = applied_along(before, 1, i, line) - value(i, line);
        const double across_lines = applied_across(before, 1, i, line) - value(i, line);
        EXPECT_NEAR(along.at(i, line), left(along_line, i, line), 1e-14) << i << ", " << line;
        EXPECT_NEAR(across.at(i, line), left(across_lines, i, line), 1e-14) << i << ", " << line;
    });
}

TEST(Slab, across_lines_it_takes_the_ghosts) {
    Slab slab(1, 1);
    slab.at(0, 0) = 2;
    slab.begin();
    slab.ghost_before()[0] = 3;
    slab.ghost_after()[0] = 5;
    slab.iterate_across(splitting, {0, 1});
    slab.turn();
    EXPECT_NEAR(slab.line(0)[0], (2 + steepness * (3 + 5)) / (1 + 2 * steepness), 1e-15);
}

TEST(Slab, make_right_sides_takes_the_difference_along_the_line) {
    Slab before = filled(), after = filled();
    after.make_right_sides(steepness);
    for_all([&](std::size_t i, std::size_t line) {
        EXPECT_NEAR(after.at(i, line), applied_along(before, steepness, i, line), 1e-14);
    });
}

} // namespace
} // namespace kumiki::kernels::diffusion
