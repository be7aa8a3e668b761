#pragma once

namespace kumiki::openmp {

/// Ends a program whose memory would not come from malloc() of this library, with a sentence: one that was linked with
/// an allocator such as mimalloc, jemalloc or tcmalloc. If that lies in the program, its malloc() is found before this
/// library's; and as a library it has operators new and delete of C++ that do not call malloc().
///
/// Must be called before anything allocates memory: some libraries would get it from the one allocator, and this
/// library would give it back to the other.
void refuse_other_allocators();

} // namespace kumiki::openmp
