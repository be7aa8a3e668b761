#pragma once

#include <cstddef>

namespace kumiki::platform {

/// Copies at least `shortest_overwritten` bytes to where another processor has read the last contents, so that the
/// lines are in its caches. A processor that moves a string may take such lines without their contents, which stores to
/// parts of a line cannot. For less its start costs more than that saves. The copy is complete before any later store
/// is visible: the parts of one string may become visible in any order, but before a store that follows it (Intel's and
/// AMD's manuals, on string operations and a flag that is stored after them).
void overwrite(std::byte* to, const std::byte* from, std::size_t bytes);
inline constexpr std::size_t shortest_overwritten = 1 << 10;

} // namespace kumiki::platform
