#pragma once

namespace kumiki::kernels {

/// The name of the CBLAS library in use: "openblas", "mkl", "blis", or "cblas" when it is none that we know.
const char* blas_name();

/// Sets how many threads the library uses for one call, if it is one that we know how to tell.
void set_blas_threads(int threads);

/// What the reader of a result should know of the library; empty for one that we know.
const char* blas_note();

} // namespace kumiki::kernels
