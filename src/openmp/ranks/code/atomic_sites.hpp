#pragma once

#include <span>

#include "error/result.hpp"

namespace kumiki::openmp {

struct Image;
class Ranks;

/// Makes the atomic instructions that the compiler has put into the program and its libraries right over several
/// processes: each of them is replaced by a call of the runtime, which executes it under a lock of the shared memory or
/// at its home. The same for fences, which so become flushes. Must be called before the program runs.
Result<> replace_atomics(std::span<const Image> images, Ranks& ranks);

} // namespace kumiki::openmp
