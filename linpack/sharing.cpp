#include "linpack/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "linpack/layout.hpp"

namespace kumiki::linpack {

namespace {

/// Speeds that differ by less are alike: measured again, the other may be the faster one.
constexpr double alike = 0.05;

/// The rate of a panel, of that of a product on one thread.
constexpr double panel_share = 0.5;

std::string listed(std::span<const double> values) {
    std::string text;
    for (const double value : values) text += fmt::format("{}{:.3g}", text.empty() ? "" : ", ", value);
    return text;
}

/// The speeds, with nothing for columns that are slower than `least`.
std::vector<double> from(std::span<const double> speeds, double least) {
    std::vector<double> weights(speeds.begin(), speeds.end());
    for (double& weight : weights)
        if (weight < least) weight = 0;
    return weights;
}

} // namespace

double expected_seconds(const Sharers& sharers, std::span<const double> weights) {
    const Layout layout = Layout::of(sharers.size, sharers.block, sharers.grid, weights);
    double seconds = 0;
    for (std::size_t step = 0; step < layout.steps(); ++step) {
        const auto width = static_cast<double>(layout.rows.width(step));
        const double rows = static_cast<double>(layout.size() - layout.rows.begin(step)) / sharers.grid.rows;
        double slowest = 0;
        for (int column = 0; column < sharers.grid.columns; ++column) {
            const double speed = 1e9 * sharers.speeds.together[static_cast<std::size_t>(column)];
            const double of_one = 1e9 * sharers.speeds.alone[static_cast<std::size_t>(column)];
            const auto behind =
                static_cast<double>(layout.columns.local_length(column) - layout.columns.local_begin(column, step + 1));
            const bool makes_panel = step + 1 < layout.steps() && layout.columns.owner(step + 1) == column;
            const double panel = makes_panel ? rows * width * width / panel_share : 0;
            const double next = makes_panel ? 2 * rows * width * width : 0;
            const double together = (2 * rows * width * behind + panel) / speed;
            slowest = std::max({slowest, together, (next + panel) / of_one});
        }
        seconds += slowest;
    }
    return seconds;
}

Sharing share_columns(const Sharers& sharers) {
    const std::vector<double>& speeds = sharers.speeds.together;
    const auto [slowest, fastest] = std::ranges::minmax(speeds);
    Sharing best;
    if (slowest >= (1 - alike) * fastest) {
        best.seconds = expected_seconds(sharers, {});
        if (speeds.size() > 1)
            best.reasons.push_back(
                fmt::format("process columns are equally fast ({} GFLOP/s): equal shares", listed(speeds)));
        return best;
    }
    std::vector<double> levels(speeds);
    std::ranges::sort(levels);
    const double with_all = expected_seconds(sharers, speeds);
    for (const double least : levels) {
        const std::vector<double> weights = from(speeds, least);
        const double seconds = expected_seconds(sharers, weights);
        if (best.weights.empty() || seconds < best.seconds) best = {weights, seconds, {}};
    }
    best.reasons.push_back(
        fmt::format("columns are shared by the speed of DGEMM: {} GFLOP/s by process column", listed(speeds)));
    const Layout layout = Layout::of(sharers.size, sharers.block, sharers.grid, best.weights);
    for (std::size_t column = 0; column < speeds.size(); ++column)
        if (layout.columns.local_length(static_cast<int>(column)) == 0)
            best.reasons.push_back(fmt::format("process column {} is left out: the others alone should take {:.3g} s, "
                                               "all together {:.3g} s",
                                               column, best.seconds, with_all));
    return best;
}

} // namespace kumiki::linpack
