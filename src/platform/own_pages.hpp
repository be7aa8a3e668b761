#pragma once

#include <cstddef>

namespace kumiki::platform {

/// Zeroed private memory: a child that this process forks finds zeros in it again. Throws std::bad_alloc.
void* map_own_pages(std::size_t bytes);
void unmap_own_pages(void* memory, std::size_t bytes) noexcept;

/// Objects of a class that inherits this are in such memory. In a forked child their pointers are null, which they
/// never are in the process that made them; so a function that loads such a pointer anyway can tell in which process it
/// runs. The child has neither the threads nor the place in the job that belong to the object, and must not touch it;
/// the object is never destroyed there.
struct InOwnPages {
    static void* operator new(std::size_t bytes) { return map_own_pages(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept { unmap_own_pages(memory, bytes); }
};

} // namespace kumiki::platform
