#pragma once

namespace kumiki::kernels {

/// The name of the CBLAS library in use: "openblas", "mkl", "blis", or "cblas" if it is not one of these.
const char* blas_name();

/// Sets how many threads the library uses for one call, if it is one of the known libraries.
void set_blas_threads(int threads);

/// A remark for the reader of a result about the library; empty for the known ones.
const char* blas_note();

} // namespace kumiki::kernels
