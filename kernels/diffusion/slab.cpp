#include "kernels/diffusion/slab.hpp"

#include <algorithm>

namespace kumiki::kernels::diffusion {
namespace {

/// The inner kernel of both directions: one iteration of a line whose points have their neighbours at the same place
/// of `before` and `after`.
void iterate(double* next, const double* sides, const double* before, const double* after, std::size_t length,
             const Splitting& splitting) {
    const auto [own, beside] = splitting;
#pragma omp simd
    for (std::size_t i = 0; i < length; ++i) next[i] = own * sides[i] + beside * (before[i] + after[i]);
}

/// Right sides become what half a step leaves, with the new values.
void leave_line(double* sides, const double* values, std::size_t length, Leave leave) {
    const double twice = new_values(leave), less = old_sides(leave);
#pragma omp simd
    for (std::size_t i = 0; i < length; ++i) sides[i] = twice * values[i] - less * sides[i];
}

} // namespace

Slab::Slab(std::size_t length, std::size_t lines)
    : length_(length),
      lines_(lines),
      pitch_(pitch_of(length)),
      sides_(lines * pitch_),
      last_((lines + 2) * pitch_),
      next_((lines + 2) * pitch_) {}

void Slab::make_right_sides(double steepness) {
    for (std::size_t line = 0; line < lines_; ++line) {
        double before = 0; // the old value
        for (std::size_t i = 0; i < length_; ++i) {
            const double here = at(i, line), after = i + 1 < length_ ? at(i + 1, line) : 0.0;
            at(i, line) = here + steepness * (before - 2 * here + after);
            before = here;
        }
    }
}

void Slab::half_step_along(const Splitting& splitting, std::size_t iterations, Leave leave) {
    // Line by line, so that one stays in the cache for all its iterations.
    for (std::size_t line = 0; line < lines_; ++line) {
        double *last = start(last_, line + 1), *next = start(next_, line + 1);
        const double* const sides = &at(0, line);
        std::copy_n(sides, length_, last);
        for (std::size_t i = 0; i < iterations; ++i) {
            iterate(next, sides, last - 1, last + 1, length_, splitting);
            std::swap(last, next);
        }
        leave_line(&at(0, line), last, length_, leave);
    }
}

void Slab::begin() {
    for (std::size_t line = 0; line < lines_; ++line) std::copy_n(&at(0, line), length_, start(last_, line + 1));
}

void Slab::iterate_across(const Splitting& splitting, Range lines) {
    for (std::size_t line = lines.begin; line < lines.end; ++line)
        iterate(start(next_, line + 1), &at(0, line), start(last_, line), start(last_, line + 2), length_, splitting);
}

void Slab::end(Leave leave) {
    for (std::size_t line = 0; line < lines_; ++line) leave_line(&at(0, line), start(last_, line + 1), length_, leave);
}

} // namespace kumiki::kernels::diffusion
