#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/common/range.hpp"

namespace kumiki::kernels {

/// Cuts 0 .. weights.size() into `parts` contiguous parts of nearly equal weight; a part may be empty. Every cut is
/// where the weight before it is nearest to its even share, so a part deviates from its share by at most the weight of
/// the heaviest item.
inline std::vector<Range> balanced_parts(std::span<const std::uint64_t> weights, int parts) {
    std::vector<std::uint64_t> before(weights.size() + 1, 0);
    std::partial_sum(weights.begin(), weights.end(), before.begin() + 1);
    const auto even_share = [&](int part) { // total * part / parts, without a product that could overflow
        const auto wide_part = static_cast<std::uint64_t>(part), wide_parts = static_cast<std::uint64_t>(parts);
        return before.back() / wide_parts * wide_part + before.back() % wide_parts * wide_part / wide_parts;
    };
    std::vector<Range> cut;
    std::size_t begin = 0;
    for (int part = 0; part < parts; ++part) {
        std::size_t end = weights.size();
        if (part + 1 < parts) {
            const std::uint64_t wanted = even_share(part + 1);
            const auto first = before.begin() + static_cast<std::ptrdiff_t>(begin);
            auto nearest = std::lower_bound(first, before.end(), wanted);
            if (nearest != first && *nearest - wanted > wanted - *(nearest - 1)) --nearest;
            end = static_cast<std::size_t>(nearest - before.begin());
        }
        cut.push_back({begin, end});
        begin = end;
    }
    return cut;
}

} // namespace kumiki::kernels
