#pragma once

#include <cstddef>
#include <cstdint>

namespace kumiki::openmp {

/// A set of registers, a bit for each: of the general ones, of the vector registers, and of the flags of arithmetic,
/// which are one.
using Registers = std::uint64_t;
constexpr Registers arithmetic_flags = Registers{1} << 32;

/// The registers that the instructions from `begin` up to `end` write, among which is no jump.
Registers written_by(std::byte* begin, const std::byte* end);

/// Whether a thread that is at `at` uses what one of these registers has now, in this function; if in doubt, it does.
/// The code does not tell whether a function takes or returns what is in a register. Most often the value is of no use
/// any more, so a call or a return is no use of it.
bool uses_any(std::byte* at, Registers live);

} // namespace kumiki::openmp
