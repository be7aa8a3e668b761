#include "platform/own_pages.hpp"

#include <new>
#include <sys/mman.h>

namespace kumiki::platform {

void* map_own_pages(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes,
            MADV_WIPEONFORK); // a kernel before 4.14 does not have this; a forked child then cannot tell that it is one
    return memory;
}

void unmap_own_pages(void* memory, std::size_t bytes) noexcept { munmap(memory, bytes); }

} // namespace kumiki::platform
