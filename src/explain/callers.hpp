#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kumiki::explain {

/// Remembers where the libraries lie that are not the program: the system's, the compilers' and Kumiki's. Must be
/// called once before the others, while no handler runs.
void find_libraries();

/// The instruction of the program that was at work: `instruction`, or, if that is a library's (as in memcpy), the one
/// that has called it. Safe in a handler of faults. Returns `instruction` if none is found.
const void* in_program(const void* instruction);

/// The calls that led here, of the program only, the innermost first; returns how many.
std::size_t program_callers(std::span<std::uint64_t> found);

} // namespace kumiki::explain
