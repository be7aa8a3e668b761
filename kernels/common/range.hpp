#pragma once

#include <cstddef>

namespace kumiki::kernels {

/// The contiguous part [begin, end) of something counted.
struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
    bool operator==(const Range&) const = default;
};

/// Part `index` of 0 .. count, which is divided into `parts`; sizes differ by at most one. (The forms that use Kumiki's
/// library have kumiki::part_of for this; the others must do without it.)
constexpr Range share(std::size_t count, std::size_t parts, std::size_t index) {
    const std::size_t least = count / parts, larger = count % parts;
    const auto start = [&](std::size_t part) { return part * least + (part < larger ? part : larger); };
    return {start(index), start(index + 1)};
}

} // namespace kumiki::kernels
