#pragma once

#include "kumiki/kumiki.hpp"

namespace kumiki::linpack {

/// Computes products of whole numbers, whose result is exact, by one thread and then by all threads of this rank at the
/// same time, which some libraries do not bear: those that were built for programs with one thread share a buffer
/// between callers without a lock. Throws std::runtime_error, with a sentence for the user, if a product is wrong.
void check_blas(Job& job);

} // namespace kumiki::linpack
