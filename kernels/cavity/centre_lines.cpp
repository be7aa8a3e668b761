#include "kernels/cavity/centre_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/cavity/problem.hpp"

namespace kumiki::kernels::cavity {
namespace {

/// A line of a table: a position, and the velocity there for each of published_reynolds.
struct Published {
    double place;
    std::array<double, published_reynolds.size()> velocities;
};

constexpr std::array<Published, 15> published_u{{
    {0.0547, {-0.03717, -0.08186, -0.18109}},
    {0.0625, {-0.04192, -0.09266, -0.20196}},
    {0.0703, {-0.04775, -0.10338, -0.22220}},
    {0.1016, {-0.06434, -0.14612, -0.29730}},
    {0.1719, {-0.10150, -0.24299, -0.38289}},
    {0.2813, {-0.15662, -0.32726, -0.27805}},
    {0.4531, {-0.21090, -0.17119, -0.10648}},
    {0.5000, {-0.20581, -0.11477, -0.06080}},
    {0.6172, {-0.13641, 0.02135, 0.05702}},
    {0.7344, {0.00332, 0.16256, 0.18719}},
    {0.8516, {0.23151, 0.29093, 0.33304}},
    {0.9531, {0.68717, 0.55892, 0.46604}},
    {0.9609, {0.73722, 0.61756, 0.51117}},
    {0.9688, {0.78871, 0.68439, 0.57492}},
    {0.9766, {0.84123, 0.75837, 0.65928}},
}};
/// The table's -0.23827 for 400 at 0.9063 is a misprint and left out: it is far off the curve through its neighbours.
constexpr double misprint = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<Published, 15> published_v{{
    {0.0625, {0.09233, 0.18360, 0.27485}},
    {0.0703, {0.10091, 0.19713, 0.29012}},
    {0.0781, {0.10890, 0.20920, 0.30353}},
    {0.0938, {0.12317, 0.22965, 0.32627}},
    {0.1563, {0.16077, 0.28124, 0.37095}},
    {0.2266, {0.17507, 0.30203, 0.33075}},
    {0.2344, {0.17527, 0.30174, 0.32235}},
    {0.5000, {0.05454, 0.05186, 0.02526}},
    {0.8047, {-0.24533, -0.38598, -0.31966}},
    {0.8594, {-0.22445, -0.44993, -0.42665}},
    {0.9063, {-0.16914, misprint, -0.51550}},
    {0.9453, {-0.10313, -0.22847, -0.39188}},
    {0.9531, {-0.08864, -0.19254, -0.33714}},
    {0.9609, {-0.07391, -0.15663, -0.27669}},
    {0.9688, {-0.05906, -0.12146, -0.21388}},
}};

/// Interpolates linearly between the centres of cells, and the walls at 0, where the velocity is zero, and at 1.
double interpolated(std::span<const double> cells, double at_end, double place) {
    const double spacing = 1.0 / static_cast<double>(cells.size());
    const double steps = place / spacing - 0.5; // from the middle of the first cell
    if (steps < 0) return cells.front() * place / (spacing / 2);
    const auto before = static_cast<std::size_t>(steps);
    const double part = steps - static_cast<double>(before);
    if (before + 1 == cells.size()) return cells.back() + (at_end - cells.back()) * 2 * part;
    return cells[before] + (cells[before + 1] - cells[before]) * part;
}

} // namespace

std::vector<CentreVelocity> beside_published(std::span<const double> u, std::span<const double> v, int reynolds) {
    const auto column =
        static_cast<std::size_t>(std::ranges::find(published_reynolds, reynolds) - published_reynolds.begin());
    std::vector<CentreVelocity> found;
    const auto add = [&](char component, std::span<const Published> table, std::span<const double> cells, double end) {
        for (const auto& [place, velocities] : table)
            if (!std::isnan(velocities.at(column)))
                found.push_back({component, place, velocities.at(column), interpolated(cells, end, place)});
    };
    add('u', published_u, u, Problem::lid);
    add('v', published_v, v, 0);
    return found;
}

double largest_deviation(std::span<const CentreVelocity> velocities) {
    double largest = 0;
    for (const CentreVelocity& each : velocities) {
        const double difference = std::abs(each.computed - each.published);
        if (std::isnan(difference)) return std::numeric_limits<double>::infinity(); // max would ignore it
        largest = std::max(largest, difference);
    }
    return largest;
}

} // namespace kumiki::kernels::cavity
