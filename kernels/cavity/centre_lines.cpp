#include "kernels/cavity/centre_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cavity/problem.hpp"

namespace kumiki::kernels::cavity {
namespace {

struct Published {
    double place, velocity;
};

constexpr std::array<Published, 15> published_u{{
    {0.0547, -0.03717},
    {0.0625, -0.04192},
    {0.0703, -0.04775},
    {0.1016, -0.06434},
    {0.1719, -0.10150},
    {0.2813, -0.15662},
    {0.4531, -0.21090},
    {0.5000, -0.20581},
    {0.6172, -0.13641},
    {0.7344, 0.00332},
    {0.8516, 0.23151},
    {0.9531, 0.68717},
    {0.9609, 0.73722},
    {0.9688, 0.78871},
    {0.9766, 0.84123},
}};
constexpr std::array<Published, 15> published_v{{
    {0.0625, 0.09233},
    {0.0703, 0.10091},
    {0.0781, 0.10890},
    {0.0938, 0.12317},
    {0.1563, 0.16077},
    {0.2266, 0.17507},
    {0.2344, 0.17527},
    {0.5000, 0.05454},
    {0.8047, -0.24533},
    {0.8594, -0.22445},
    {0.9063, -0.16914},
    {0.9453, -0.10313},
    {0.9531, -0.08864},
    {0.9609, -0.07391},
    {0.9688, -0.05906},
}};

/// Linear between the middles of cells, and the walls at 0, where nothing moves, and at 1.
double interpolated(std::span<const double> cells, double at_end, double place) {
    const double spacing = 1.0 / static_cast<double>(cells.size());
    const double steps = place / spacing - 0.5; // from the middle of the first cell
    if (steps < 0) return cells.front() * place / (spacing / 2);
    const auto before = static_cast<std::size_t>(steps);
    const double part = steps - static_cast<double>(before);
    if (before + 1 == cells.size()) return cells.back() + (at_end - cells.back()) * 2 * part;
    return cells[before] + (cells[before + 1] - cells[before]) * part;
}

double deviation(std::span<const Published> published, std::span<const double> cells, double at_end) {
    double largest = 0;
    for (const auto& [place, velocity] : published) {
        const double difference = std::abs(interpolated(cells, at_end, place) - velocity);
        if (std::isnan(difference)) return std::numeric_limits<double>::infinity(); // max would pass over it
        largest = std::max(largest, difference);
    }
    return largest;
}

} // namespace

double deviation_from_published(std::span<const double> u, std::span<const double> v) {
    return std::max(deviation(published_u, u, Problem::lid), deviation(published_v, v, 0));
}

} // namespace kumiki::kernels::cavity
