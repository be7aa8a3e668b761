#pragma once

#include <cstddef>

#include "kernels/common/aligned.hpp"

namespace kumiki::linpack {

/// Elements from row to row (or from column to column) of an array of doubles with rows of `length`: whole cache lines,
/// and an odd number of them. With an even number the elements of a column share some of the sets of a cache, and with
/// a multiple of 4 KiB all of them lie in the same one.
constexpr std::size_t lead_for(std::size_t length) {
    constexpr std::size_t line = kernels::line_bytes / sizeof(double);
    return ((length + line - 1) / line | 1) * line;
}

} // namespace kumiki::linpack
