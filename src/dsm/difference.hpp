#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsm/line_copies.hpp"

/// The bytes in which a page differs from its twin, and no others: another host may legally have written the byte
/// beside one of them in the same interval, and a difference that included that byte would undo its write.
namespace kumiki::dsm {

/// The maximum length of the difference of a page of `page` bytes.
constexpr std::size_t longest_difference(std::size_t page) { return page / difference_line * (difference_line + 10); }

/// Appends the difference between a page and its twin to `packed`, or nothing if they are equal. Both lengths are a
/// multiple of difference_line. Returns the number of bytes that differ.
std::size_t pack_difference(std::span<const std::byte> page, std::span<const std::byte> twin,
                            std::vector<std::byte>& packed, const LineCopies& copies = fastest_copies());

/// Stores a packed difference into a page. It writes no other byte, not even with its present value, because other
/// threads may write those bytes meanwhile. Returns false if the difference does not fit a page of this length; some of
/// its bytes may then have been stored.
bool apply_difference(std::span<const std::byte> packed, std::span<std::byte> page,
                      const LineCopies& copies = fastest_copies());

/// Whether apply_difference() would store it.
bool is_difference(std::span<const std::byte> packed, std::size_t page);

/// Sets the bit of each byte in which page and twin differ: bit i % 64 of word i / 64 is byte i's. `mask` has a bit for
/// each byte of the page. Returns whether any byte differs.
bool mark_difference(std::span<const std::byte> page, std::span<const std::byte> twin, std::span<std::uint64_t> mask);

/// Like apply_difference(), but into a page and its twin, so that they differ afterwards only where the owner of the
/// page writes. Where they differed before, in a byte of the difference, sets the byte's bit in `both`. The owner may
/// write to the page meanwhile; the twin is the caller's.
bool merge_difference(std::span<const std::byte> packed, std::span<std::byte> page, std::span<std::byte> twin,
                      std::span<std::uint64_t> both);

/// Both at once, without packing. Returns the number of bytes that differ.
std::size_t copy_difference(std::span<const std::byte> page, std::span<const std::byte> twin,
                            std::span<std::byte> into);

} // namespace kumiki::dsm
