#include "kernels/himeno/reference.hpp"

#include <algorithm>
#include <cmath>

namespace kumiki::kernels::himeno {
namespace {

constexpr double most_point_updates = 1e8;

/// In single precision the second difference of the pressures, some 1e-5 of them, has no more digits than this.
constexpr double first_gosa_tolerance = 0.02;

/// The squares of a row are summed up in single precision, and the rows in double precision.
constexpr double gosa_tolerance = 1e-6;

bool near(double found, double wanted, double tolerance) { return std::abs(found - wanted) <= tolerance * wanted; }

} // namespace

std::size_t checked_sweeps(const Problem& problem, std::size_t sweeps) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(most_point_updates / problem.points()), 1, sweeps);
}

Reference compute_reference(const Problem& problem, std::size_t sweeps) {
    Block grid(problem, Tile{{1, problem.planes - 1}, {1, problem.rows - 1}});
    const double first = grid.sweep();
    double last = first;
    for (std::size_t sweep = 1; sweep < sweeps; ++sweep) last = grid.sweep();
    return {{last, grid.checksum()}, near(first, problem.first_gosa(), first_gosa_tolerance) && last <= first};
}

bool agrees(const Result& result, const Reference& reference) {
    return result.checksum == reference.result.checksum && near(result.gosa, reference.result.gosa, gosa_tolerance);
}

} // namespace kumiki::kernels::himeno
