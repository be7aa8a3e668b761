#pragma once

#include <cstddef>

namespace kumiki::platform {

/// Copies a block that stays in the caches, of at least `shortest_in_cache` bytes: plain vector moves, which start at
/// once. The C library's copy is better below this length (it branches less) and above `longest_in_cache` (it uses the
/// processor's string instructions, which do not read a destination that no longer fits beside the source in a
/// first-level cache of 32 KiB).
void copy_in_cache(std::byte* destination, const std::byte* source, std::size_t bytes);
inline constexpr std::size_t shortest_in_cache = 2 << 10;
inline constexpr std::size_t longest_in_cache = 12 << 10;

/// Copies so that the destination does not pass through this processor's caches: for blocks that are longer than what
/// the caches could keep for the reader, this saves reading the destination before overwriting it. The copy is complete
/// before any later store is visible.
void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes);

} // namespace kumiki::platform
