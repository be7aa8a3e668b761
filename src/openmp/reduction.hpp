#pragma once

#include <cstddef>
#include <cstdint>

/// Task reductions: the tasks of a taskgroup add to copies of the variables, of which each thread has its own. The
/// compiler makes and combines the copies; the runtime provides their memory and finds them.
///
/// The compiler's description of the variables of one construct is an array of words:
///
///     [0] how many variables; [1] bytes of one thread's copies; [2] their alignment, replaced by the address of the
///     copies of all threads; [3] the allocator; [4] the next description; [5] for the runtime: the index of all
///     variables in sight; [6] for the runtime: the end of the copies; then for each variable:
///     its address, its offset in the copies, and for the runtime: the address of its description
namespace kumiki::openmp {

struct Member;

/// The bytes of the copies for `threads` threads, with room to align them.
std::size_t bytes_of_copies(const std::uintptr_t* description, int threads);
/// Allocates the copies for `threads` threads, and puts the variables into an index with those of `outer`. If `first`
/// is not nullptr, it is the description of another thread of the same worksharing construct, whose copies are used.
/// `copies`: memory for them, bytes_of_copies() zeros; nullptr: none.
void register_reductions(std::uintptr_t* description, std::uintptr_t* outer, const std::uintptr_t* first, int threads,
                         void* copies = nullptr);

/// Frees the copies and the index.
void unregister_reductions(std::uintptr_t* description);
/// Frees the index only; the copies belong to the first thread of the worksharing construct.
void forget_reductions(std::uintptr_t* description);

/// Replaces each of `count` addresses, of variables or of any thread's copies, by that of this thread's copy; those of
/// the first `originals` variables are stored behind the addresses.
void find_copies(const Member& me, std::size_t count, std::size_t originals, void** addresses);

} // namespace kumiki::openmp
