#include "kernels/himeno/block.hpp"

#include <algorithm>
#include <bit>

#include "kernels/common/mixed.hpp"

namespace kumiki::kernels::himeno {

Cut cut_of(const Problem& problem, int workers, const SplitChoice& split) {
    return {problem.planes - 2, problem.rows - 2, workers, split};
}

Block::Block(const Problem& problem, const Tile& tile, std::span<float> memory)
    : problem_(problem),
      planes_(tile.rows),
      rows_(tile.columns),
      strips_(strips_of(problem)),
      coefficients_(planes_.size() * rows_.size() * strips_),
      storage_(storage_length(problem, tile), memory) {
    set_coefficients();
    for (auto& edge : packed_) edge.resize(planes_.size() * pitch());
    for (const Side side : {Side::north, Side::south}) {
        const std::size_t plane = side == Side::north ? planes_.begin - 1 : planes_.end;
        boundaries_[index(side)].assign(plane_length(), problem.initial_pressure(plane));
    }
    reset();
}

void Block::set_coefficients() {
    constexpr auto fill = [](auto& arrays, float value) {
        for (Strip& strip : arrays) strip.fill(value);
    };
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
        Coefficients& here = coefficients_[i];
        fill(here.a, 1.0F);
        here.a[3].fill(1.0F / 6.0F);
        fill(here.b, 0.0F);
        fill(here.c, 1.0F);
        here.wrk1.fill(0.0F);
        // The benchmark's mask of the points to compute; it excludes the columns of the boundary, and those that fill
        // up the last strip.
        for (std::size_t lane = 0; lane < strip_columns; ++lane) {
            const std::size_t column = i % strips_ * strip_columns + lane;
            here.bnd[lane] = column > 0 && column + 1 < problem_.columns ? 1.0F : 0.0F;
        }
    }
}

void Block::reset() {
    shifted_ = true;
    std::ranges::fill(storage_, 0.0F);
    for (std::size_t plane = 0; plane < planes_.size(); ++plane)
        std::fill_n(row_at(plane, 0), plane_length(), problem_.initial_pressure(planes_.begin + plane));
    for (const Side side : {Side::north, Side::south}) halos_[index(side)] = boundaries_[index(side)].data();
}

const float* Block::north_of(std::size_t plane) const {
    return plane == 0 ? halos_[index(Side::north)] : row_at(plane - 1, 0);
}

const float* Block::south_of(std::size_t plane) const {
    return plane + 1 == planes_.size() ? halos_[index(Side::south)] : row_at(plane + 1, 0);
}

double Block::move_row(std::size_t plane, std::size_t row) {
    float* const next = &storage_[place(plane, row, !shifted_)];
    const float* const here = row_at(plane, row);
    if (row == 0 || row > rows_.size()) {
        std::copy_n(here, pitch(), next);
        return 0;
    }
    const float* const north = north_of(plane) + row * pitch();
    const float* const south = south_of(plane) + row * pitch();
    const Surroundings around{north - pitch(), north,           north + pitch(), here - pitch(), here,
                              here + pitch(),  south - pitch(), south,           south + pitch()};
    const std::size_t computed_rows = plane * rows_.size() + row - 1;
    return relax_row(next, around, &coefficients_[computed_rows * strips_], strips_);
}

double Block::sweep() {
    const std::size_t last_plane = planes_.size() - 1, last_row = rows_with_ghosts() - 1;
    double gosa = 0;
    for (std::size_t n = 0; n <= last_plane; ++n)
        for (std::size_t m = 0; m <= last_row; ++m)
            gosa += shifted_ ? move_row(n, m) : move_row(last_plane - n, last_row - m);
    shifted_ = !shifted_;
    return gosa;
}

std::span<const float> Block::edge(Side side) {
    if (side == Side::north) return {row_at(0, 0), plane_length()};
    if (side == Side::south) return {row_at(planes_.size() - 1, 0), plane_length()};
    auto& packed = packed_[side == Side::west ? 0 : 1];
    const std::size_t row = side == Side::west ? 1 : rows_.size();
    for (std::size_t plane = 0; plane < planes_.size(); ++plane)
        std::copy_n(row_at(plane, row), pitch(), &packed[plane * pitch()]);
    return packed;
}

void Block::accept(Side side, const float* edge) {
    if (side == Side::north || side == Side::south) {
        halos_[index(side)] = edge;
        return;
    }
    const std::size_t row = side == Side::west ? 0 : rows_.size() + 1;
    for (std::size_t plane = 0; plane < planes_.size(); ++plane)
        std::copy_n(edge + plane * pitch(), pitch(), row_at(plane, row));
}

std::uint64_t Block::checksum() const {
    std::uint64_t sum = 0;
    for (std::size_t plane = 0; plane < planes_.size(); ++plane)
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            const float* const here = row_at(plane, row + 1);
            const std::size_t first = ((planes_.begin + plane) * problem_.rows + rows_.begin + row) * problem_.columns;
            for (std::size_t column = 0; column < problem_.columns; ++column)
                sum += mixed(std::bit_cast<std::uint32_t>(here[column]) ^ mixed(first + column + 1));
        }
    return sum;
}

} // namespace kumiki::kernels::himeno
