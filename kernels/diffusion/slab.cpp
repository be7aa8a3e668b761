#include "kernels/diffusion/slab.hpp"

#include <algorithm>

#include "kernels/common/simd.hpp"

namespace kumiki::kernels::diffusion {
namespace {

/// The inner kernel of both directions: one iteration of a row whose points have their neighbours at the same position
/// of `before` and `after`.
void iterate_row(double* next, const double* sides, const double* before, const double* after, std::size_t length,
                 const Splitting& splitting) {
    const auto [own, beside] = splitting;
    for_all_of(length, 1, [=](std::size_t i) { next[i] = own * sides[i] + beside * (before[i] + after[i]); });
}

/// Replaces right sides and values by the result of half a step.
void leave_row(double* sides, const double* values, std::size_t length, Leave leave) {
    const double twice = new_values(leave), less = old_sides(leave);
#pragma omp simd
    for (std::size_t i = 0; i < length; ++i) sides[i] = twice * values[i] - less * sides[i];
}

} // namespace

Slab::Slab(const Tile& own, std::span<double> memory)
    : own_(own),
      length_(own.columns.size()),
      rows_(own.rows.size()),
      pitch_(pitch_of(length_)),
      sides_(storage_length(own), memory),
      last_((rows_ + 2) * pitch_),
      next_((rows_ + 2) * pitch_) {
    for (auto& edge : packed_) edge.resize(rows_);
}

void Slab::make_right_sides(double steepness) {
    for (std::size_t row = 0; row < rows_; ++row) {
        const double* const here = start(last_, row + 1);
        double* const sides = &sides_[row * pitch_ + lead];
#pragma omp simd
        for (std::size_t i = 0; i < length_; ++i)
            sides[i] = here[i] + steepness * (here[i - 1] - 2 * here[i] + here[i + 1]);
    }
}

void Slab::half_step_along(const Splitting& splitting, std::size_t iterations, Leave leave) {
    // Row by row, so that a row stays in the cache for all its iterations.
    for (std::size_t row = 0; row < rows_; ++row) {
        double *last = start(last_, row + 1), *next = start(next_, row + 1);
        double* const sides = &sides_[row * pitch_ + lead];
        std::copy_n(sides, length_, last);
        for (std::size_t i = 0; i < iterations; ++i) {
            iterate_row(next, sides, last - 1, last + 1, length_, splitting);
            std::swap(last, next);
        }
        leave_row(sides, last, length_, leave);
    }
}

void Slab::begin() {
    for (std::size_t row = 0; row < rows_; ++row)
        std::copy_n(&sides_[row * pitch_ + lead], length_, start(last_, row + 1));
}

void Slab::iterate(Sides direction, const Splitting& splitting, const Tile& part) {
    const std::size_t column = part.columns.begin - own_.columns.begin;
    const std::size_t beside = direction == Sides::west_east ? 1 : pitch_;
    for (std::size_t row = part.rows.begin - own_.rows.begin; row < part.rows.end - own_.rows.begin; ++row) {
        const double* const here = start(last_, row + 1) + column;
        iterate_row(start(next_, row + 1) + column, &sides_[row * pitch_ + lead + column], here - beside, here + beside,
                    part.columns.size(), splitting);
    }
}

void Slab::end(Leave leave) {
    for (std::size_t row = 0; row < rows_; ++row)
        leave_row(&sides_[row * pitch_ + lead], start(last_, row + 1), length_, leave);
}

std::span<const double> Slab::edge(Side side) {
    if (side == Side::north) return {start(last_, 1), length_};
    if (side == Side::south) return {start(last_, rows_), length_};
    auto& packed = packed_[side == Side::west ? 0 : 1];
    const std::size_t column = side == Side::west ? 0 : length_ - 1;
    for (std::size_t row = 0; row < rows_; ++row) packed[row] = start(last_, row + 1)[column];
    return packed;
}

void Slab::accept(Side side, const double* edge) {
    if (side == Side::north || side == Side::south) {
        std::copy_n(edge, length_, start(last_, side == Side::north ? 0 : rows_ + 1));
        return;
    }
    const std::size_t column = lead + (side == Side::west ? 0 : length_ + 1) - 1;
    for (std::size_t row = 0; row < rows_; ++row) last_[(row + 1) * pitch_ + column] = edge[row];
}

} // namespace kumiki::kernels::diffusion
