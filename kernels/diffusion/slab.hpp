#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "kernels/common/aligned.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/cut.hpp"
#include "kernels/diffusion/leave.hpp"

namespace kumiki::kernels::diffusion {

/// The matrix 1 - s D split for Jacobi iterations of (1 - s D) v = r: one makes, of the iterate before,
///
///     v[i] = (r[i] + s (v[i - 1] + v[i + 1])) / (1 + 2 s)
struct Splitting {
    explicit Splitting(double steepness) : own(1 / (1 + 2 * steepness)), beside(steepness * own) {}
    double own, beside; ///< the factors of r and v
};

/// One worker's tile of the grid, of which a row is a line along y, contiguous in memory, or a part of one, with ghosts
/// of the points beyond its edges, for iterations along the rows and across them. These start from r, and all values
/// beyond the boundary are 0.
class Slab {
public:
    /// `memory` is where the values are: storage_length() elements or none.
    explicit Slab(const Tile& own, std::span<double> memory = {});
    static std::size_t storage_length(const Tile& own) { return own.rows.size() * pitch_of(own.columns.size()); }

    const Tile& own() const { return own_; }
    double& at(std::size_t row, std::size_t column) {
        return sides_[(row - own_.rows.begin) * pitch_ + lead + (column - own_.columns.begin)];
    }

    /// Replaces values by right sides, along the rows: u becomes (1 + s D) u. Comes after begin(), and needs the ghosts
    /// west and east.
    void make_right_sides(double steepness);
    /// Iterates along every row, so many times, if no worker has a neighbour west or east.
    void half_step_along(const Splitting& splitting, std::size_t iterations, Leave leave);

    /// Along the rows (west_east) or across them (north_south): begin(); then, for each iteration, iterate() over all
    /// points, of which those on edges need ghosts, and turn(); finally end().
    void begin();
    void iterate(Sides direction, const Splitting& splitting, const Tile& part);
    void turn() { std::swap(last_, next_); }
    void end(Leave leave);

    /// The values of the last iterate that the neighbour on that side needs; valid until the next call for that side.
    std::span<const double> edge(Side side);
    /// Stores the neighbour's edge.
    void accept(Side side, const double* edge);

private:
    using Iterate = AlignedVector<double>;                           ///< by row, from the one before the own
    static constexpr std::size_t lead = line_bytes / sizeof(double); ///< before a row, to keep it aligned

    static std::size_t pitch_of(std::size_t length) { return (length / lead + 1) * lead + lead; }
    /// Column 0 of the own in a row, which counts from the one before the own.
    double* start(Iterate& iterate, std::size_t row) const { return iterate.data() + row * pitch_ + lead; }

    Tile own_;
    std::size_t length_, rows_, pitch_;
    Storage<double> sides_; ///< right sides or values, by row
    Iterate last_, next_;
    std::array<AlignedVector<double>, 2> packed_; ///< the edges west and east
};

} // namespace kumiki::kernels::diffusion
