#pragma once

namespace kumiki::openmp {

/// What the libraries of C++ and Fortran have once in each process, and the start of the program prepares, which only
/// rank 0 runs. Every rank calls this before the variables of the program are shared: the linker has put objects of
/// these libraries (std::cout) among them, and they then have the same contents everywhere.
void prepare_languages();

} // namespace kumiki::openmp
