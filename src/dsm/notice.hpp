#pragma once

#include <cstdint>

namespace kumiki::dsm {

/// A write notice: pages of one array that a rank has changed.
struct Notice {
    std::uint32_t array, count;
    std::uint64_t first;
    friend bool operator==(const Notice&, const Notice&) = default;

    /// All pages of all arrays: for a rank that no longer knows which ones.
    static constexpr Notice everything() { return {~std::uint32_t{0}, 0, 0}; }
};

/// A notice as ranks pass it on at locks. Each rank numbers its own notices, from 1 on.
struct Told {
    Notice notice;
    std::uint64_t number;
    std::uint32_t writer, spare = 0;
};

} // namespace kumiki::dsm
