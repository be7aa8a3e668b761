#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// The bytes of a page in which it differs from its twin, and no others: another host may have written the byte beside
/// one of them in the same interval, legally, and a difference that carried that byte too would undo its write.
namespace kumiki::dsm {

/// Pages are compared in lines of this length.
inline constexpr std::size_t difference_line = 64;

/// The most bytes that the difference of a page of `page` bytes takes.
constexpr std::size_t longest_difference(std::size_t page) { return page / difference_line * (difference_line + 10); }

/// Appends the difference between a page and its twin to `packed`; nothing when they are equal. Both lengths are a
/// multiple of difference_line. Returns the number of bytes that differ.
std::size_t pack_difference(std::span<const std::byte> page, std::span<const std::byte> twin,
                            std::vector<std::byte>& packed);

/// Stores a packed difference into a page. Writes no other byte, not even with the value that it has: other threads may
/// write those meanwhile. Returns false when the difference does not fit a page of this length; then some of its bytes
/// may have been stored.
bool apply_difference(std::span<const std::byte> packed, std::span<std::byte> page);

/// Both at once, without packing. Returns the number of bytes that differ.
std::size_t copy_difference(std::span<const std::byte> page, std::span<const std::byte> twin,
                            std::span<std::byte> into);

} // namespace kumiki::dsm
