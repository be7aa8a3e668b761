#include "kernels/diffusion/strip.hpp"

#include <algorithm>
#include <array>

namespace kumiki::kernels::diffusion {
namespace {

/// Prefetches a group of a row some rows before it is needed: rows are on different pages, and the hardware follows
/// streams only within a page. Addresses beyond the end do no harm.
constexpr std::size_t ahead = 8;
void prefetch(const double* group) {
    __builtin_prefetch(group);
    __builtin_prefetch(group + line_bytes / sizeof(double));
}

} // namespace

Elimination::Elimination(std::size_t length, double steepness) : steepness_(steepness) {
    double factor = 0;
    for (std::size_t i = 0; i < length; ++i) {
        inverses_.push_back(1 / (1 + 2 * steepness - steepness * factor));
        factors_.push_back(factor = steepness * inverses_.back());
    }
}

Strip::Strip(std::size_t length, std::size_t lines, std::span<double> memory)
    : length_(length),
      lines_(lines),
      pitch_(pitch_of(lines)),
      values_(block_length(length, lines), memory),
      scratch_(length * group) {}

void Strip::accept_transposed(Range rows, const double* block) {
    // Works in tiles, so that the lines of both sides are still in the cache when their next element is needed.
    const std::size_t pitch = pitch_of(rows.size());
    for (std::size_t i = 0; i < rows.size(); i += group)
        for (std::size_t line = 0; line < lines_; line += group) {
            const std::size_t high = std::min(group, rows.size() - i), wide = std::min(group, lines_ - line);
            const double* const source = block + line * pitch + i;
            double* const target = &at(rows.begin + i, line);
            for (std::size_t k = 0; k < group; ++k) prefetch(source + (group + k) * pitch);
            for (std::size_t row = 0; row < high; ++row)
                for (std::size_t k = 0; k < wide; ++k) target[row * pitch_ + k] = source[k * pitch + row];
        }
}

void Strip::make_right_sides(double steepness) {
    std::vector<double> before(lines_, 0.0); // the old values of the row before
    for (std::size_t i = 0; i < length_; ++i)
        for (std::size_t line = 0; line < lines_; ++line) {
            const double here = at(i, line), after = i + 1 < length_ ? at(i + 1, line) : 0.0;
            at(i, line) = here + steepness * (before[line] - 2 * here + after);
            before[line] = here;
        }
}

void Strip::half_step(const Elimination& elimination, Leave leave) {
    const double twice = new_values(leave), less = old_sides(leave);
    for (std::size_t first = 0; first < groups_of(lines_) * group; first += group) {
        std::array<double, group> last{};
        for (std::size_t i = 0; i < length_; ++i) {
            const double inverse = elimination.inverse(i), factor = elimination.factor(i);
            const double* const right = &values_[i * pitch_ + first];
            double* const eliminated = &scratch_[i * group];
            prefetch(right + ahead * pitch_);
#pragma omp simd
            for (std::size_t lane = 0; lane < group; ++lane)
                eliminated[lane] = last[lane] = right[lane] * inverse + factor * last[lane];
        }
        last.fill(0);
        for (std::size_t i = length_; i-- > 0;) {
            const double factor = elimination.factor(i);
            double* const right = &values_[i * pitch_ + first];
            const double* const eliminated = &scratch_[i * group];
#pragma omp simd
            for (std::size_t lane = 0; lane < group; ++lane) {
                last[lane] = eliminated[lane] + factor * last[lane];
                right[lane] = twice * last[lane] - less * right[lane];
            }
        }
    }
}

} // namespace kumiki::kernels::diffusion
