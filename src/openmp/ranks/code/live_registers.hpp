#pragma once

#include <cstddef>
#include <cstdint>

#include "openmp/ranks/code/instructions.hpp"

namespace kumiki::openmp {

class FunctionCalls;

/// A set of registers, a bit for each: of the 16 general ones, of the 32 vector registers, and of the flags of
/// arithmetic, which are one.
using Registers = std::uint64_t;
constexpr Registers arithmetic_flags = Registers{1} << 48;

/// 0: it is of another kind.
Registers bit_of(ZydisRegister name);

/// Whether a thread that is at `at` uses what one of these registers has now; if in doubt, it does. But what functions
/// may take and return in vector registers, without an instruction that names them, is most often of no use any more.
/// So it counts only if a called function reads it, and the thread comes to `made_at` behind the call again, or never;
/// or if the function of `made_at` may return it to a caller that may use it, and the thread never comes to `made_at`
/// again, because what is made in a loop is not what a function returns behind the loop.
/// `calls`: those of the image; null: they are not known.
bool uses_any(std::byte* at, Registers live, const std::byte* made_at, FunctionCalls* calls = nullptr);

} // namespace kumiki::openmp
