#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace kumiki::openmp {

/// What programs know of an allocator: the predefined ones are small numbers, and the one that OMP_ALLOCATOR describes
/// is the highest of them, because each process has it for itself. Any other is the address of an Allocator.
using AllocatorHandle = std::uintptr_t;
inline constexpr AllocatorHandle default_allocator = 1, allocator_of_environment = 4095;

/// A trait of an allocator, by the numbers of OpenMP's interface (omp_alloctrait_t).
struct Trait {
    int key;
    std::uintptr_t value;
};

/// What an allocator does when it has no memory.
enum class Fallback : std::uintptr_t { default_memory = 11, null = 12, abort_program = 13, other_allocator = 14 };

/// An allocator with traits. All memory spaces are the same memory; of the traits alignment, the size of the pool, the
/// fallback and, in a program of one process, pinned memory are obeyed. The others are hints.
struct Allocator {
    static constexpr std::size_t no_pool = std::numeric_limits<std::int64_t>::max();

    std::size_t alignment = 1;
    std::size_t pool = no_pool; ///< its size
    Fallback fallback = Fallback::default_memory;
    AllocatorHandle other = 0; ///< for this fallback
    bool pinned = false;
    /// Of the pool. A process may free more of allocator_of_environment than it has allocated: only the sum of all
    /// processes says what is used.
    std::int64_t used = 0;

    /// Nothing: the traits are not usable.
    static std::optional<Allocator> with(std::span<const Trait> traits);
};

/// What OMP_ALLOCATOR names: a predefined allocator, or a memory space, perhaps with traits.
struct NamedAllocator {
    AllocatorHandle handle;
    Allocator allocator; ///< allocator_of_environment
};
/// Nothing: the text, in lower case, names none.
std::optional<NamedAllocator> read_allocator(std::string_view text);

} // namespace kumiki::openmp
