#include "kernels/cavity/flow.hpp"

#include <utility>

#include "kernels/common/simd.hpp"

namespace kumiki::kernels::cavity {

Flow::Flow(const Problem& problem, Range own)
    : problem_(problem),
      own_(own),
      tile_{own, {1, problem.cells() + 1}},
      velocities_(own, problem.cells()),
      tentative_(own, problem.cells()),
      pressure_(tile_),
      source_(tile_),
      weights_(tile_),
      pressures_(problem.cells() + 2),
      pressures_above_(problem.cells() + 2) {
    const auto neighbours = [&](std::size_t number) { return number == 1 || number == problem.cells() ? 1.0 : 2.0; };
    for (std::size_t row = own.begin; row < own.end; ++row)
        for (std::size_t column = 1; column <= problem.cells(); ++column)
            weights_.at(row, column) = Problem::relaxation / (neighbours(row) + neighbours(column));
}

void Flow::reset() {
    velocities_ = Velocities(own_, problem_.cells());
    tentative_ = velocities_;
    pressure_ = RedBlackTile(tile_);
}

void Flow::set_walls() {
    // Beyond a wall the velocity along it is what makes the mean of both sides the wall's.
    const std::size_t last = problem_.cells();
    const auto mirror = [&](std::size_t beyond, std::size_t row, double wall) {
        for (std::size_t i = 1; i < last; ++i) velocities_.u(beyond)[i] = 2 * wall - velocities_.u(row)[i];
    };
    if (own_.begin == 1) mirror(0, 1, 0);
    if (own_.end == last + 1) mirror(last + 1, last, Problem::lid);
    for (std::size_t row = own_.begin - 1; row <= own_.end; ++row) {
        double* const v = velocities_.v(row);
        v[0] = -v[1];
        v[last + 1] = -v[last];
    }
}

void Flow::make_tentative_u(std::size_t row) {
    const double step = problem_.time_step(), h = problem_.spacing();
    const double convection = step / (4 * h), diffusion = step / (h * h * Problem::reynolds);
    const double *const south = velocities_.u(row - 1), *const u = velocities_.u(row),
                        *const north = velocities_.u(row + 1);
    const double *const v_south = velocities_.v(row - 1), *const v = velocities_.v(row);
    double* const next = tentative_.u(row);
#pragma omp simd
    for (std::size_t i = 1; i < problem_.cells(); ++i) {
        const double east = u[i] + u[i + 1], west = u[i - 1] + u[i];
        const double along = east * east - west * west;
        const double across = (u[i] + north[i]) * (v[i] + v[i + 1]) - (south[i] + u[i]) * (v_south[i] + v_south[i + 1]);
        const double curvature = u[i - 1] + u[i + 1] + south[i] + north[i] - 4 * u[i];
        next[i] = u[i] - convection * (along + across) + diffusion * curvature;
    }
}

void Flow::make_tentative_v(std::size_t row) {
    const double step = problem_.time_step(), h = problem_.spacing();
    const double convection = step / (4 * h), diffusion = step / (h * h * Problem::reynolds);
    const double *const south = velocities_.v(row - 1), *const v = velocities_.v(row),
                        *const north = velocities_.v(row + 1);
    const double *const u = velocities_.u(row), *const u_north = velocities_.u(row + 1);
    double* const next = tentative_.v(row);
#pragma omp simd
    for (std::size_t i = 1; i <= problem_.cells(); ++i) {
        const double upper = v[i] + north[i], lower = south[i] + v[i];
        const double along = upper * upper - lower * lower;
        const double across = (u[i] + u_north[i]) * (v[i] + v[i + 1]) - (u[i - 1] + u_north[i - 1]) * (v[i - 1] + v[i]);
        const double curvature = v[i - 1] + v[i + 1] + south[i] + north[i] - 4 * v[i];
        next[i] = v[i] - convection * (along + across) + diffusion * curvature;
    }
}

void Flow::make_tentative() {
    set_walls();
    for (std::size_t row = own_.begin; row < own_.end; ++row) {
        make_tentative_u(row);
        if (row < problem_.cells()) make_tentative_v(row); // no flow through the lid
    }
}

void Flow::make_source() {
    const double scale = problem_.spacing() / problem_.time_step();
    for (std::size_t row = own_.begin; row < own_.end; ++row) {
        const double *const u = tentative_.u(row), *const v = tentative_.v(row), *const v_south = tentative_.v(row - 1);
        for (const Colour colour : {Colour::red, Colour::black}) {
            const ColouredLine source = source_.line(colour, this->row(row));
            const std::size_t first = RedBlackTile::first_of(colour, row, tile_.columns.begin);
            for (std::size_t k = 0; k < source.count; ++k) {
                const std::size_t i = first + 2 * k;
                source.own[k] = scale * (u[i] - u[i - 1] + v[i] - v_south[i]);
            }
        }
    }
}

void Flow::relax(Colour colour, const Tile& part) {
    const ColouredLine line = pressure_.line(colour, part);
    const double* const source = source_.line(colour, part).own;
    const double* const weight = weights_.line(colour, part).own;
    const auto [own, above, below, beside, count, step] = line;
    largest_of(count, step, [=](std::size_t i) {
        const double sum = above[i] + below[i] + (beside[i] + beside[i + 1]);
        own[i] = weight[i] * (sum - source[i]) + (1 - Problem::relaxation) * own[i];
        return 0.0;
    });
}

std::span<const double> Flow::plain_pressure(std::size_t row, std::span<double> plain) {
    for (const Colour colour : {Colour::red, Colour::black}) {
        const ColouredLine line = pressure_.line(colour, this->row(row));
        const std::size_t first = RedBlackTile::first_of(colour, row, tile_.columns.begin);
        for (std::size_t k = 0; k < line.count; ++k) plain[first + 2 * k] = line.own[k];
    }
    return plain;
}

double Flow::correct() {
    const double scale = problem_.time_step() / problem_.spacing();
    double largest = 0;
    const auto replace = [&](double* old, const double* tentative, const double* here, const double* next,
                             std::size_t count) {
        double change = 0;
#pragma omp simd reduction(max : change)
        for (std::size_t i = 1; i <= count; ++i) {
            const double value = tentative[i] - scale * (next[i] - here[i]), size = std::abs(value - old[i]);
            old[i] = value;
            change = size > change ? size : change;
        }
        largest = std::max(largest, change);
    };
    plain_pressure(own_.begin, pressures_);
    for (std::size_t row = own_.begin; row < own_.end; ++row) {
        const double* const here = pressures_.data();
        replace(velocities_.u(row), tentative_.u(row), here, here + 1, problem_.cells() - 1);
        if (row == problem_.cells()) break;
        plain_pressure(row + 1, pressures_above_);
        replace(velocities_.v(row), tentative_.v(row), here, pressures_above_.data(), problem_.cells());
        std::swap(pressures_, pressures_above_);
    }
    return largest;
}

double Flow::divergence(std::size_t row) {
    const double *const u = velocities_.u(row), *const v = velocities_.v(row), *const v_south = velocities_.v(row - 1);
    double largest = 0;
    for (std::size_t i = 1; i <= problem_.cells(); ++i)
        largest = std::max(largest, std::abs(u[i] - u[i - 1] + v[i] - v_south[i]));
    return largest / problem_.spacing();
}

} // namespace kumiki::kernels::cavity
