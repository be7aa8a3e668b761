#pragma once

#include <cblas.h>

#include <cstddef>

namespace kumiki::linpack {

/// A length as CBLAS wants it. Options admit none that does not fit.
inline int blas_length(std::size_t value) { return static_cast<int>(value); }

} // namespace kumiki::linpack
