#pragma once

#include <cstddef>

namespace kumiki::platform {

/// Zeroed memory of this process alone: a child that it forks finds zeros in it again. Throws std::bad_alloc.
void* map_own_pages(std::size_t bytes);
void unmap_own_pages(void* memory, std::size_t bytes) noexcept;

/// Objects of a class that inherits this lie in such memory. In a forked child their pointers are null, which they
/// cannot be in the process that made them: by a pointer that it loads in any case, a function knows in which process
/// it runs. The child has neither the threads nor the place in the job that belong to the object, and must leave it
/// alone; the object is never destroyed there.
struct InOwnPages {
    static void* operator new(std::size_t bytes) { return map_own_pages(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept { unmap_own_pages(memory, bytes); }
};

} // namespace kumiki::platform
