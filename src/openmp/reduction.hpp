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
/// Memory for them, all zeros; unregister_reductions() frees it.
void* allocate_copies(const std::uintptr_t* description, int threads);
/// Places the copies for `threads` threads at `copies`, which are bytes_of_copies() zeros, and puts the variables into
/// an index with those of `outer`. The threads of one worksharing construct give the same `copies`.
void register_reductions(std::uintptr_t* description, std::uintptr_t* outer, int threads, void* copies);

/// Frees the index, and copies that came from allocate_copies().
void unregister_reductions(std::uintptr_t* description);
/// Frees the index only.
void forget_reductions(std::uintptr_t* description);

/// Replaces each of `count` addresses, of variables or of any thread's copies, by that of this thread's copy; those of
/// the first `originals` variables are stored behind the addresses.
void find_copies(const Member& me, std::size_t count, std::size_t originals, void** addresses);

} // namespace kumiki::openmp
