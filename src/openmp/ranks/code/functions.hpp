#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "openmp/ranks/memory/image.hpp"

namespace kumiki::openmp {

/// Where the function begins to which an instruction belongs, by the tables for unwinding that compilers write for
/// every function; null: it is not known.
const std::byte* begin_of_function(const std::byte* instruction);

/// The parts of an image's code that are instructions, in order: its functions, by the tables for unwinding, and what
/// their calls and jumps lead to. What lies between functions besides may be constants, as programmers in assembly
/// language put tables beside their functions (OpenSSL), whose bytes may look like any instruction. All code is taken
/// for instructions if these tables name less than half of it, as where it was compiled without them, or do not name
/// all functions (Image::names_all_functions).
std::vector<std::span<std::byte>> functions_of(const Image& image);

} // namespace kumiki::openmp
