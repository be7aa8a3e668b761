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
/// language put tables beside their functions (OpenSSL), whose bytes may look like any instruction. If the tables for
/// unwinding name less than half of the code, as where it was compiled without them, all code is taken for
/// instructions.
std::vector<std::span<std::byte>> functions_of(const Image& image);

} // namespace kumiki::openmp
