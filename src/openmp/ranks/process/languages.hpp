#pragma once

namespace kumiki::openmp {

/// What the libraries of C++ and Fortran have once in each process, and the start of the program prepares, which only
/// rank 0 runs. Every rank calls this before the variables of the program are shared: the linker has put objects of
/// these libraries (std::cout) among them, and they then have the same contents everywhere.
void prepare_languages();

/// For ranks that do not run the program's start: the arguments that Fortran's intrinsic functions return.
void tell_fortran_arguments(int count, char** arguments);

/// What the start of a Fortran program tells its library: the options of the compiler, which are numbers in the
/// program; and those for unformatted files.
struct FortranOptions {
    int count = 0;
    const int* numbers = nullptr;                                 ///< null: it has told nothing
    int conversion = 0, record_marker = 0, longest_subrecord = 0; ///< 0: not told
    /// Tells it to the library of this process.
    void set() const;
};

} // namespace kumiki::openmp
