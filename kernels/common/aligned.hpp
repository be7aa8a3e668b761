#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace kumiki::kernels {

/// The alignment of vectors of numbers: a cache line, which is also the widest vector register.
inline constexpr std::size_t line_bytes = 64;

/// From this size on a vector is placed in huge pages, if the system provides them on request: streams of many
/// megabytes are a tenth faster if the processor need not look up a new page every 4 KiB.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        void* const memory = ::operator new(bytes, alignment(bytes));
        // Only whole pages, because the memory after the last of them may belong to others.
        if (bytes >= huge_page_bytes) madvise(memory, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count * sizeof(T))); }
    template <class U>
    bool operator==(const AlignedAllocator<U>&) const {
        return true;
    }

private:
    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t{bytes >= huge_page_bytes ? huge_page_bytes : line_bytes};
    }
};

/// A vector whose first element is at the beginning of a cache line.
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

} // namespace kumiki::kernels
