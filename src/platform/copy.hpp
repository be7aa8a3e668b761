#pragma once

#include <cstddef>

namespace kumiki::platform {

/// Copies so that the destination does not pass through this processor's caches: for blocks that are longer than what the caches could keep for the
/// reader, this saves reading the destination before overwriting it. Complete before any later store is visible.
void copy_around_caches(std::byte* destination, const std::byte* source, std::size_t bytes);

} // namespace kumiki::platform
