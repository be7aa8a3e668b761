#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "kernels/common/aligned.hpp"
#include "kernels/common/range.hpp"
#include "kernels/diffusion/leave.hpp"

namespace kumiki::kernels::diffusion {

/// The matrix 1 - s D split for Jacobi iterations of (1 - s D) v = r: one makes, of the iterate before,
///
///     v[i] = (r[i] + s (v[i - 1] + v[i + 1])) / (1 + 2 s)
struct Splitting {
    explicit Splitting(double steepness) : own(1 / (1 + 2 * steepness)), beside(steepness * own) {}
    double own, beside; ///< what r and v are multiplied with
};

/// One worker's lines of the grid, whole, each contiguous in memory, and a ghost of the line before and after them:
/// what iterations along the lines and across them need. They start from r, and beyond the boundary all are 0.
class Slab {
public:
    Slab(std::size_t length, std::size_t lines);

    double& at(std::size_t i, std::size_t line) { return sides_[line * pitch_ + lead + i]; }

    /// Values become right sides, along the lines: u becomes (1 + s D) u.
    void make_right_sides(double steepness);
    /// Iterates along every line, so many times.
    void half_step_along(const Splitting& splitting, std::size_t iterations, Leave leave);

    /// Across the lines: begin(); for each iteration iterate_across() of all lines, the first and the last of which
    /// need the ghosts, and turn(); end().
    void begin();
    void iterate_across(const Splitting& splitting, Range lines);
    void turn() { std::swap(last_, next_); }
    void end(Leave leave);

    /// Lines of the last iterate, and its ghosts.
    std::size_t lines() const { return lines_; }
    std::span<const double> line(std::size_t line) const { return {start(last_, line + 1), length_}; }
    std::span<double> ghost_before() { return {start(last_, 0), length_}; }
    std::span<double> ghost_after() { return {start(last_, lines_ + 1), length_}; }

private:
    using Iterate = AlignedVector<double>;                           ///< by line, from the one before the own
    static constexpr std::size_t lead = line_bytes / sizeof(double); ///< zeros before a line, to keep it aligned

    static std::size_t pitch_of(std::size_t length) { return (length / lead + 1) * lead + lead; }
    double* start(Iterate& iterate, std::size_t line) const { return iterate.data() + line * pitch_ + lead; }
    const double* start(const Iterate& iterate, std::size_t line) const {
        return iterate.data() + line * pitch_ + lead;
    }

    std::size_t length_, lines_, pitch_;
    AlignedVector<double> sides_; ///< right sides or values, by line
    Iterate last_, next_;
};

} // namespace kumiki::kernels::diffusion
