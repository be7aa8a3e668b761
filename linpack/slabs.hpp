#pragma once

#include <cstddef>
#include <vector>

#include "kernels/common/range.hpp"

namespace kumiki::linpack {

using kernels::Range;

/// A slab: some of this rank's columns, and which slab of the step it is. The ranks of a process column cut the same
/// slabs.
struct Slab {
    std::size_t number;
    Range columns;
    bool makes_panel = false; ///< its columns are those of the next panel
    bool for_device = false;  ///< where there is one, it shares the products
};

/// Columns of a slab, at least (but for the last): fewer make a slow product.
inline constexpr std::size_t least_slab = 128;

/// Cuts columns into slabs for `threads` threads that take one after another: each a part of what remains, so that the
/// last are small and all threads end at about the same time, whatever their speed. One thread gets one slab.
std::vector<Range> cut_slabs(const Range& columns, int threads);

/// Cuts columns at multiples of `width`.
std::vector<Range> cut_at_multiples(const Range& columns, std::size_t width);

/// Cuts columns into equal slabs, one for each of `threads` threads, or fewer where they would be narrower than
/// least_slab.
std::vector<Range> cut_evenly(const Range& columns, int threads);

/// No more slabs than this come of `columns` columns.
constexpr std::size_t most_slabs(std::size_t columns) { return columns / least_slab + 1; }

} // namespace kumiki::linpack
