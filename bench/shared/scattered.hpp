#pragma once

#include <cstddef>

namespace kumiki::bench {

/// The page that is visited in turn `turn` if `count` of them, a power of two, are visited once each without an order
/// that prefetching could follow: the factor is odd.
constexpr std::size_t scattered(std::size_t turn, std::size_t count) { return turn * 0x9e3779b1u % count; }

} // namespace kumiki::bench
