#pragma once

#include <cstdint>
#include <optional>

#include "dsm/courier.hpp"

namespace kumiki::dsm {

/// A page of an array, as messages about locks name it.
struct PageName {
    std::uint32_t array;
    std::uint64_t page;

    /// Not 0, which is no page's.
    std::uint64_t code() const { return (page + 1) * Arrays::most + array; }
    static std::optional<PageName> from(std::uint64_t code) {
        if (code < Arrays::most) return {};
        return PageName{static_cast<std::uint32_t>(code % Arrays::most), code / Arrays::most - 1};
    }
};

} // namespace kumiki::dsm
