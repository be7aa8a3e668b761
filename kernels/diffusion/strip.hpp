#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/aligned.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/range.hpp"
#include "kernels/diffusion/leave.hpp"

namespace kumiki::kernels::diffusion {

/// The matrix 1 - s D of one line, with -s beside the diagonal and 1 + 2 s on it, made ready for elimination (Thomas):
/// it is the same for every line.
class Elimination {
public:
    Elimination(std::size_t length, double steepness);
    std::size_t length() const { return inverses_.size(); }
    double steepness() const { return steepness_; }
    double inverse(std::size_t i) const {
        return inverses_[i];
    } ///< 1 over the diagonal, after the elements below it have been eliminated
    double factor(std::size_t i) const {
        return factors_[i];
    } ///< the element above it, multiplied by that, with the sign changed

private:
    double steepness_;
    std::vector<double> inverses_, factors_;
};

/// One worker's lines of the grid, whole, one in each column: elimination goes from row to row, and all columns take
/// part in each vector operation.
class Strip {
public:
    /// All 0. `memory` is where the values are: block_length(length, lines) elements or none.
    Strip(std::size_t length, std::size_t lines, std::span<double> memory = {});

    double& at(std::size_t i, std::size_t line) { return values_[i * pitch_ + line]; }
    double at(std::size_t i, std::size_t line) const { return values_[i * pitch_ + line]; }

    /// The number of elements in so many rows of a strip of so many lines.
    static std::size_t block_length(std::size_t rows, std::size_t lines) { return rows * pitch_of(lines); }
    /// Some rows of all lines, as they are in memory.
    std::span<const double> block(Range rows) const {
        return std::span(values_).subspan(rows.begin * pitch_, rows.size() * pitch_);
    }
    /// Stores the values of block(all rows of this strip's lines) of a strip whose lines were this strip's rows `rows`.
    void accept_transposed(Range rows, const double* block);

    /// Replaces values by right sides: u becomes (1 + s D) u.
    void make_right_sides(double steepness);
    /// Solves for all lines.
    void half_step(const Elimination& elimination, Leave leave);

private:
    /// The number of columns that are computed at once: two vector registers of 512 bits, which hide each other's
    /// latency.
    static constexpr std::size_t group = 16;
    static std::size_t groups_of(std::size_t lines) { return (lines + group - 1) / group; }
    /// Whole groups, so that vector loops have no remainder, plus one cache line: the number of lines is odd, because
    /// rows whose distance is a power of two would compete for the same few places in the cache.
    static std::size_t pitch_of(std::size_t lines) { return groups_of(lines) * group + line_bytes / sizeof(double); }

    std::size_t length_, lines_, pitch_;
    Storage<double> values_;        ///< by row
    AlignedVector<double> scratch_; ///< the eliminated right sides of a group
};

} // namespace kumiki::kernels::diffusion
