// Memory that the program maps. The system would give it to one process only, so large arrays and files that it reads
// become memory of its heap, which all ranks see; a file is read when it is mapped. So does what it reserves
// (PROT_NONE) and takes into use later, by mprotect() or by mapping it again (MAP_FIXED), as allocators do; and memory
// for code that it writes and executes. Files that it writes in this way, code of files, what it wants at another
// address, and long reservations stay the system's, as does what the heap has no room for.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/process/ties.hpp"
#include "platform/memory.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp {
namespace {

/// The parts of blocks of the heap that this process has mapped and not yet unmapped: a program may unmap any of their
/// pages, such as those in front of an address that is rounder than a page. Thread-safe.
class Mappings {
public:
    void add(std::byte* block, std::size_t bytes, bool is_private) {
        const std::lock_guard lock(mutex_);
        parts_[block] = {block + bytes, block, is_private};
    }

    /// Whether the system would give zeros for this memory after MADV_DONTNEED; true for what is not mapped.
    bool becomes_zeros(std::byte* memory) {
        const std::lock_guard lock(mutex_);
        const auto behind = parts_.upper_bound(memory);
        return behind == parts_.begin() || std::prev(behind)->second.end <= memory ||
               std::prev(behind)->second.is_private;
    }

    /// Returns the blocks of which nothing is mapped any more.
    std::vector<std::byte*> remove(std::byte* begin, std::byte* end) {
        const std::lock_guard lock(mutex_);
        std::vector<std::byte*> unmapped;
        auto part = parts_.upper_bound(begin);
        if (part != parts_.begin()) --part;
        while (part != parts_.end() && part->first < end) {
            const auto [first, old] = *part;
            std::byte *const from = std::max(first, begin), *const to = std::min(old.end, end);
            ++part;
            if (from >= to) continue;
            parts_.erase(first);
            if (first < from) parts_[first] = {from, old.block, old.is_private};
            if (to < old.end) parts_[to] = {old.end, old.block, old.is_private};
            const auto left = parts_.lower_bound(old.block);
            if (left == parts_.end() || left->second.block != old.block) unmapped.push_back(old.block);
        }
        return unmapped;
    }

private:
    struct Part {
        std::byte *end, *block;
        bool is_private;
    };
    std::mutex mutex_;                 ///< guards the rest
    std::map<std::byte*, Part> parts_; ///< by their beginnings
};

/// Of the process, as mmap() is a function of the process; it is never destroyed, because programs unmap at their end.
Mappings& mappings() {
    static auto* const all = new Mappings;
    return *all;
}

/// Whether memory of these properties, which are those of mmap(), becomes memory of the heap.
bool becomes_heap(std::size_t bytes, int allowed, int flags, int file, off_t offset) {
    constexpr int possible = MAP_TYPE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE | MAP_STACK | MAP_HUGETLB |
                             MAP_DENYWRITE | MAP_EXECUTABLE | MAP_NONBLOCK | (MAP_HUGE_MASK << MAP_HUGE_SHIFT);
    constexpr std::size_t longest_reservation = std::size_t{1} << 30;
    const int type = flags & MAP_TYPE;
    if (allowed == PROT_NONE && (flags & MAP_ANONYMOUS) != 0 && bytes <= longest_reservation) allowed = PROT_READ;
    if (bytes == 0 || (allowed & PROT_READ) == 0) return false;
    if ((allowed & PROT_EXEC) != 0 && ((flags & MAP_ANONYMOUS) == 0 || !may_execute_heap())) return false;
    if ((flags & ~possible) != 0 || (type != MAP_PRIVATE && type != MAP_SHARED)) return false;
    if ((flags & MAP_ANONYMOUS) != 0) return true;
    struct stat about{};
    return (type == MAP_PRIVATE || allowed == PROT_READ) && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
           offset % static_cast<off_t>(platform::page_size()) == 0;
}

/// As much of the file as there is. Returns false if it cannot be read.
bool read_file(std::byte* memory, std::size_t bytes, int file, off_t offset) {
    constexpr std::size_t most = std::size_t{64} << 20; // of one call, for which the whole memory is touched
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t got = pread(file, memory + done, std::min(bytes - done, most), offset + static_cast<off_t>(done));
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    return true;
}

/// Null: the system should map it.
void* map_heap(const void* caller, std::size_t bytes, int flags, int file, off_t offset) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t page = platform::page_size();
    if (bytes > PTRDIFF_MAX - page) return nullptr;
    const std::size_t length = platform::round_up(bytes, page);
    auto* const memory =
        static_cast<std::byte*>(allocate_zeros(caller, length, (flags & MAP_HUGETLB) != 0 ? huge : page));
    if (memory == nullptr) return nullptr;
    if ((flags & MAP_ANONYMOUS) == 0 && !read_file(memory, bytes, file, offset)) {
        std::free(memory);
        return nullptr;
    }
    mappings().add(memory, length, (flags & MAP_TYPE) == MAP_PRIVATE);
    return memory;
}

/// Maps memory of the heap again (MAP_FIXED): it becomes zeros, or what is in the file.
void* map_heap_again(void* memory, std::size_t bytes, int allowed, int flags, int file, off_t offset) {
    if (!becomes_heap(bytes, allowed, flags & ~MAP_FIXED, file, offset)) {
        errno = EACCES;
        return MAP_FAILED;
    }
    if (allowed == PROT_NONE) return memory;
    std::memset(memory, 0, platform::round_up(bytes, platform::page_size()));
    if ((flags & MAP_ANONYMOUS) == 0 && !read_file(static_cast<std::byte*>(memory), bytes, file, offset))
        return MAP_FAILED;
    return memory;
}

void unmap_heap(void* begin, std::size_t bytes) {
    auto* const memory = static_cast<std::byte*>(begin);
    for (std::byte* block : mappings().remove(memory, memory + platform::round_up(bytes, platform::page_size())))
        std::free(block);
}

void* resize_heap(const void* caller, void* memory, std::size_t bytes, std::size_t new_bytes, int flags) {
    const std::size_t page = platform::page_size();
    const std::size_t length = platform::round_up(bytes, page), new_length = platform::round_up(new_bytes, page);
    if (new_length <= length) {
        if (new_length < length) unmap_heap(static_cast<std::byte*>(memory) + new_length, length - new_length);
        return memory;
    }
    void* const longer =
        flags == MREMAP_MAYMOVE ? map_heap(caller, new_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : nullptr;
    if (longer == nullptr) {
        errno = flags == MREMAP_MAYMOVE || flags == 0 ? ENOMEM : EINVAL;
        return MAP_FAILED;
    }
    std::memcpy(longer, memory, length);
    unmap_heap(memory, length);
    return longer;
}

/// Whether the call is one of the program about memory that it may have mapped of its heap.
bool is_about_heap(const void* caller, const void* memory) { return is_in_heap(memory) && is_program(caller); }

} // namespace
} // namespace kumiki::openmp

using namespace kumiki::openmp;

#define KUMIKI_MMAP(name)                                                                                              \
    KUMIKI_ENTRY void* name(void* wish, std::size_t bytes, int allowed, int flags, int file, off_t offset) {           \
        static auto* const real = kumiki::platform::next_function(&name, #name);                                       \
        if ((flags & MAP_FIXED) != 0 && is_about_heap(KUMIKI_CALLER, wish))                                            \
            return map_heap_again(wish, bytes, allowed, flags, file, offset);                                          \
        void* const memory = is_program(KUMIKI_CALLER) && becomes_heap(bytes, allowed, flags, file, offset)            \
                                 ? map_heap(KUMIKI_CALLER, bytes, flags, file, offset)                                 \
                                 : nullptr;                                                                            \
        if (memory != nullptr) return memory;                                                                          \
        if (is_program(KUMIKI_CALLER)) note_tie();                                                                     \
        return real(wish, bytes, allowed, flags, file, offset);                                                        \
    }
KUMIKI_MMAP(mmap)
KUMIKI_MMAP(mmap64)

KUMIKI_ENTRY int munmap(void* memory, std::size_t bytes) {
    static auto* const real = kumiki::platform::next_function(&munmap, "munmap");
    if (!is_about_heap(KUMIKI_CALLER, memory)) return real(memory, bytes);
    if (bytes == 0 || reinterpret_cast<std::uintptr_t>(memory) % kumiki::platform::page_size() != 0) {
        errno = EINVAL;
        return -1;
    }
    unmap_heap(memory, bytes);
    return 0;
}

KUMIKI_ENTRY void* mremap(void* memory, std::size_t bytes, std::size_t new_bytes, int flags, ...) {
    static auto* const real = kumiki::platform::next_function(&mremap, "mremap");
    std::va_list rest;
    va_start(rest, flags);
    void* const wish = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    if (!is_about_heap(KUMIKI_CALLER, memory)) return real(memory, bytes, new_bytes, flags, wish);
    return resize_heap(KUMIKI_CALLER, memory, bytes, new_bytes, flags);
}

/// The runtime protects the pages of shared memory as their contents come and go, so the program does not.
KUMIKI_ENTRY int mprotect(void* memory, std::size_t bytes, int allowed) {
    static auto* const real = kumiki::platform::next_function(&mprotect, "mprotect");
    if (!is_about_heap(KUMIKI_CALLER, memory)) return real(memory, bytes, allowed);
    if ((allowed & PROT_EXEC) == 0 || may_execute_heap()) return 0;
    errno = EACCES;
    return -1;
}

KUMIKI_ENTRY int madvise(void* memory, std::size_t bytes, int advice) {
    static auto* const real = kumiki::platform::next_function(&madvise, "madvise");
    if (!is_about_heap(KUMIKI_CALLER, memory)) return real(memory, bytes, advice);
    if (advice == MADV_DONTNEED && mappings().becomes_zeros(static_cast<std::byte*>(memory)))
        std::memset(memory, 0, kumiki::platform::round_up(bytes, kumiki::platform::page_size()));
    return 0;
}
