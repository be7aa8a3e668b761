#include "kernels/cavity/flow.hpp"

#include <utility>

#include "kernels/common/simd.hpp"

namespace kumiki::kernels::cavity {

Velocities::Velocities(const Tile& own, std::span<double> memory)
    : own_(own), pitch_(pitch_of(own.columns.size())), values_(storage_length(own), memory) {
    for (auto& edge : packed_) edge.resize(2 * own.rows.size());
}

std::span<const double> Velocities::edge(Side side) {
    if (side == Side::north) return {u(own_.rows.begin), 2 * pitch_};
    if (side == Side::south) return {u(own_.rows.end - 1), 2 * pitch_};
    auto& packed = packed_[side == Side::west ? 0 : 1];
    const std::size_t column = side == Side::west ? 1 : own_.columns.size();
    auto element = packed.begin();
    for (std::size_t row = own_.rows.begin; row < own_.rows.end; ++row) {
        *element++ = u(row)[column];
        *element++ = v(row)[column];
    }
    return packed;
}

void Velocities::accept(Side side, const double* edge) {
    if (side == Side::north || side == Side::south) {
        std::copy_n(edge, 2 * pitch_, u(side == Side::north ? own_.rows.begin - 1 : own_.rows.end));
        return;
    }
    const std::size_t column = side == Side::west ? 0 : own_.columns.size() + 1;
    for (std::size_t row = own_.rows.begin; row < own_.rows.end; ++row) {
        u(row)[column] = *edge++;
        v(row)[column] = *edge++;
    }
}

Flow::Flow(const Problem& problem, const Tile& own, std::span<double> memory)
    : problem_(problem),
      own_(own),
      velocities_(own, part_of_memory(memory, 0, Velocities::storage_length(own))),
      tentative_(own, part_of_memory(memory, Velocities::storage_length(own), Velocities::storage_length(own))),
      pressure_(own, part_of_memory(memory, 2 * Velocities::storage_length(own), RedBlackTile::storage_length(own))),
      source_(own),
      weights_(own),
      pressures_(columns() + 2),
      pressures_above_(columns() + 2) {
    const auto neighbours = [&](std::size_t number) { return number == 1 || number == problem.cells() ? 1.0 : 2.0; };
    for (std::size_t row = own.rows.begin; row < own.rows.end; ++row)
        for (std::size_t column = own.columns.begin; column < own.columns.end; ++column)
            weights_.at(row, column) = Problem::relaxation / (neighbours(row) + neighbours(column));
}

void Flow::reset() {
    velocities_ = Velocities(own_);
    tentative_ = velocities_;
    pressure_ = RedBlackTile(own_);
}

void Flow::set_walls() {
    // The velocity beyond a wall is such that the mean of both sides is the wall's velocity.
    const std::size_t last = problem_.cells();
    const auto mirror = [&](std::size_t beyond, std::size_t row, double wall) {
        for (std::size_t i = 1; i <= faces(); ++i) velocities_.u(beyond)[i] = 2 * wall - velocities_.u(row)[i];
    };
    if (own_.rows.begin == 1) mirror(0, 1, 0);
    if (own_.rows.end == last + 1) mirror(last + 1, last, Problem::lid);
    for (std::size_t row = own_.rows.begin; row < own_.rows.end; ++row) {
        double* const v = velocities_.v(row);
        if (own_.columns.begin == 1) v[0] = -v[1];
        if (own_.columns.end == last + 1) v[columns() + 1] = -v[columns()];
    }
}

void Flow::make_tentative_u(std::size_t row) {
    const double step = problem_.time_step(), h = problem_.spacing();
    const double convection = step / (4 * h), diffusion = step / (h * h * problem_.reynolds);
    const double *const south = velocities_.u(row - 1), *const u = velocities_.u(row),
                        *const north = velocities_.u(row + 1);
    const double *const v_south = velocities_.v(row - 1), *const v = velocities_.v(row);
    double* const next = tentative_.u(row);
#pragma omp simd
    for (std::size_t i = 1; i <= faces(); ++i) {
        const double east = u[i] + u[i + 1], west = u[i - 1] + u[i];
        const double along = east * east - west * west;
        const double across = (u[i] + north[i]) * (v[i] + v[i + 1]) - (south[i] + u[i]) * (v_south[i] + v_south[i + 1]);
        const double curvature = u[i - 1] + u[i + 1] + south[i] + north[i] - 4 * u[i];
        next[i] = u[i] - convection * (along + across) + diffusion * curvature;
    }
}

void Flow::make_tentative_v(std::size_t row) {
    const double step = problem_.time_step(), h = problem_.spacing();
    const double convection = step / (4 * h), diffusion = step / (h * h * problem_.reynolds);
    const double *const south = velocities_.v(row - 1), *const v = velocities_.v(row),
                        *const north = velocities_.v(row + 1);
    const double *const u = velocities_.u(row), *const u_north = velocities_.u(row + 1);
    double* const next = tentative_.v(row);
#pragma omp simd
    for (std::size_t i = 1; i <= columns(); ++i) {
        const double upper = v[i] + north[i], lower = south[i] + v[i];
        const double along = upper * upper - lower * lower;
        const double across = (u[i] + u_north[i]) * (v[i] + v[i + 1]) - (u[i - 1] + u_north[i - 1]) * (v[i - 1] + v[i]);
        const double curvature = v[i - 1] + v[i + 1] + south[i] + north[i] - 4 * v[i];
        next[i] = v[i] - convection * (along + across) + diffusion * curvature;
    }
}

void Flow::make_tentative() {
    set_walls();
    for (std::size_t row = own_.rows.begin; row < own_.rows.end; ++row) {
        make_tentative_u(row);
        if (row < problem_.cells()) make_tentative_v(row); // no flow through the lid
    }
}

void Flow::make_source() {
    const double scale = problem_.spacing() / problem_.time_step();
    for (std::size_t row = own_.rows.begin; row < own_.rows.end; ++row) {
        const double *const u = tentative_.u(row), *const v = tentative_.v(row), *const v_south = tentative_.v(row - 1);
        for (const Colour colour : {Colour::red, Colour::black}) {
            const ColouredLine source = source_.line(colour, {{row, row + 1}, own_.columns});
            const std::size_t first = first_in_row(colour, row);
            for (std::size_t k = 0; k < source.count; ++k) {
                const std::size_t i = first + 2 * k;
                source.own[k] = scale * (u[i] - u[i - 1] + v[i] - v_south[i]);
            }
        }
    }
}

void Flow::relax(Colour colour, const Tile& part) {
    const auto [own, above, below, beside, count, step] = pressure_.line(colour, part);
    const double* const source = source_.same_place(pressure_, own);
    const double* const weight = weights_.same_place(pressure_, own);
    for_all_of(count, step, [=](std::size_t i) {
        const double sum = above[i] + below[i] + (beside[i] + beside[i + 1]);
        own[i] = weight[i] * (sum - source[i]) + (1 - Problem::relaxation) * own[i];
    });
}

void Flow::copy_pressure(std::size_t row, std::span<double> plain) {
    for (const Colour colour : {Colour::red, Colour::black}) {
        const ColouredLine line = pressure_.line(colour, {{row, row + 1}, {own_.columns.begin, own_.columns.end + 1}});
        const std::size_t first = first_in_row(colour, row);
        for (std::size_t k = 0; k < line.count; ++k) plain[first + 2 * k] = line.own[k];
    }
}

double Flow::correct() {
    const double scale = problem_.time_step() / problem_.spacing();
    double largest = 0;
    // All loops start at column 1.
    const auto replace = [&, scale](double* old, const double* tentative, const double* here, const double* next,
                                    std::size_t count) {
        const double change = largest_of(count, 1, [=](std::size_t i) {
            const double value = tentative[i] - scale * (next[i] - here[i]), size = std::abs(value - old[i]);
            old[i] = value;
            return size;
        });
        largest = std::max(largest, change);
    };
    copy_pressure(own_.rows.begin, pressures_);
    for (std::size_t row = own_.rows.begin; row < own_.rows.end; ++row) {
        const double* const here = &pressures_[1];
        replace(velocities_.u(row) + 1, tentative_.u(row) + 1, here, here + 1, faces());
        if (row == problem_.cells()) break;
        copy_pressure(row + 1, pressures_above_);
        replace(velocities_.v(row) + 1, tentative_.v(row) + 1, here, &pressures_above_[1], columns());
        std::swap(pressures_, pressures_above_);
    }
    return largest;
}

double Flow::divergence(std::size_t row, std::size_t column) {
    const std::size_t i = column + 1 - own_.columns.begin;
    const double* const u = velocities_.u(row);
    return std::abs(u[i] - u[i - 1] + velocities_.v(row)[i] - velocities_.v(row - 1)[i]) / problem_.spacing();
}

} // namespace kumiki::kernels::cavity
