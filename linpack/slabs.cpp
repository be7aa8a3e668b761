#include "linpack/slabs.hpp"

#include <algorithm>

namespace kumiki::linpack {

namespace {

/// Slabs begin at a whole cache line of the matrix, as its first column does.
constexpr std::size_t line = 8;

} // namespace

std::vector<Range> cut_slabs(const Range& columns, int threads) {
    std::vector<Range> slabs;
    const std::size_t shares = threads == 1 ? 1 : 2 * static_cast<std::size_t>(threads);
    for (std::size_t begin = columns.begin; begin < columns.end;) {
        const std::size_t left = columns.end - begin, share = (left + shares - 1) / shares;
        const std::size_t width = (std::max(share, least_slab) + line - 1) / line * line;
        const std::size_t end = left < width + least_slab ? columns.end : begin + width;
        slabs.push_back({begin, end});
        begin = end;
    }
    return slabs;
}

std::vector<Range> cut_evenly(const Range& columns, int threads) {
    const auto shares = static_cast<std::size_t>(threads);
    const std::size_t width = (std::max((columns.size() + shares - 1) / shares, least_slab) + line - 1) / line * line;
    std::vector<Range> slabs;
    for (std::size_t begin = columns.begin; begin < columns.end;) {
        const std::size_t end = columns.end - begin < width + least_slab ? columns.end : begin + width;
        slabs.push_back({begin, end});
        begin = end;
    }
    return slabs;
}

std::vector<Range> cut_at_multiples(const Range& columns, std::size_t width) {
    std::vector<Range> slabs;
    for (std::size_t begin = columns.begin; begin < columns.end;) {
        const std::size_t end = std::min((begin / width + 1) * width, columns.end);
        slabs.push_back({begin, end});
        begin = end;
    }
    return slabs;
}

} // namespace kumiki::linpack
