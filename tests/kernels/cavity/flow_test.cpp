#include "kernels/cavity/flow.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kumiki::kernels::cavity {
namespace {

constexpr Problem small{17};
constexpr std::size_t cells = 16;

double divergence(Flow& flow) {
    double largest = 0;
    for (std::size_t row = 1; row <= cells; ++row)
        for (std::size_t column = 1; column <= cells; ++column)
            largest = std::max(largest, flow.divergence(row, column));
    return largest;
}

TEST(Flow, at_rest_only_the_lid_moves_anything) {
    Flow flow(small, {{1, cells + 1}, {1, cells + 1}});
    flow.make_tentative();
    for (std::size_t row = 1; row <= cells; ++row)
        for (std::size_t i = 1; i < cells; ++i) {
            const double wanted =
                row < cells ? 0 : 2 * small.time_step() / (small.spacing() * small.spacing() * small.reynolds);
            EXPECT_DOUBLE_EQ(flow.tentative().u(row)[i], wanted) << row << ", " << i;
            EXPECT_EQ(flow.tentative().v(row)[i], 0);
        }
}

TEST(Flow, pressure_frees_velocities_of_divergence) {
    Flow flow(small, {{1, cells + 1}, {1, cells + 1}});
    for (std::size_t row = 1; row <= cells; ++row)
        for (std::size_t i = 1; i <= cells; ++i) {
            if (i < cells) flow.velocities().u(row)[i] = std::sin(static_cast<double>(7 * row + i));
            if (row < cells) flow.velocities().v(row)[i] = std::cos(static_cast<double>(row + 5 * i));
        }
    EXPECT_GT(divergence(flow), 10);
    flow.make_tentative();
    flow.make_source();
    for (int sweep = 0; sweep < 600; ++sweep)
        for (const Colour colour : {Colour::red, Colour::black})
            for (std::size_t row = 1; row <= cells; ++row) flow.relax(colour, {{row, row + 1}, {1, cells + 1}});
    EXPECT_GT(flow.correct(), 0);
    EXPECT_LT(divergence(flow), 1e-9);
}

} // namespace
} // namespace kumiki::kernels::cavity
