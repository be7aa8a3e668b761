#include "kernels/diffusion/strip.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kumiki::kernels::diffusion {
namespace {

constexpr std::size_t length = 37, lines = 19; // more than one group of columns, and not a whole number of groups
constexpr double steepness = 3.5;

double value(std::size_t i, std::size_t line) { return std::sin(1.0 + 0.7 * static_cast<double>(i * lines + line)); }

Strip filled() {
    Strip strip(length, lines);
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < lines; ++line) strip.at(i, line) = value(i, line);
    return strip;
}

/// (1 + factor D) of a line, with zeros beyond its ends.
double applied(const Strip& strip, double factor, std::size_t i, std::size_t line) {
    const double before = i > 0 ? strip.at(i - 1, line) : 0, after = i + 1 < length ? strip.at(i + 1, line) : 0;
    return strip.at(i, line) + factor * (before - 2 * strip.at(i, line) + after);
}

template <class Compare>
void for_all(Compare compare) {
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < lines; ++line) compare(i, line);
}

TEST(Strip, half_step_solves_every_line) {
    Strip strip = filled();
    strip.half_step({length, steepness}, Leave::values);
    for_all([&](std::size_t i, std::size_t line) {
        EXPECT_NEAR(applied(strip, -steepness, i, line), value(i, line), 1e-14) << i << ", " << line;
    });
}

TEST(Strip, half_step_leaves_the_next_right_sides_without_a_difference) {
    Strip values = filled(), sides = filled();
    values.half_step({length, steepness}, Leave::values);
    sides.half_step({length, steepness}, Leave::right_sides);
    values.make_right_sides(steepness);
    for_all([&](std::size_t i, std::size_t line) { EXPECT_NEAR(sides.at(i, line), values.at(i, line), 1e-13); });
}

TEST(Strip, make_right_sides_takes_the_difference_along_the_line) {
    const Strip before = filled();
    Strip after = filled();
    after.make_right_sides(steepness);
    for_all([&](std::size_t i, std::size_t line) {
        EXPECT_NEAR(after.at(i, line), applied(before, steepness, i, line), 1e-14);
    });
}

TEST(Strip, blocks_of_two_strips_are_transposed_into_place) {
    // A grid of `length` x `length` in strips of columns; this strip gets the rows 5 .. 5 + lines of the others' as
    // columns.
    constexpr Range ours{5, 5 + lines}, theirs{9, 9 + 18};
    Strip from(length, theirs.size()), to(length, lines);
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t line = 0; line < theirs.size(); ++line) from.at(i, line) = value(i, theirs.begin + line);
    const auto block = from.block(ours);
    EXPECT_EQ(block.size(), Strip::block_length(lines, theirs.size()));
    to.accept_transposed(theirs, block.data());
    for_all([&](std::size_t i, std::size_t line) {
        const bool accepted = i >= theirs.begin && i < theirs.end;
        EXPECT_EQ(to.at(i, line), accepted ? value(ours.begin + line, i) : 0) << i << ", " << line;
    });
}

} // namespace
} // namespace kumiki::kernels::diffusion
