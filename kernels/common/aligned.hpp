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

/// Memory by whole units: it shares none of them with other memory.
template <class T, std::size_t unit = line_bytes>
struct AlignedAllocator {
    using value_type = T;
    template <class U>
    struct rebind {
        using other = AlignedAllocator<U, unit>;
    };
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U, unit>&) {}
    T* allocate(std::size_t count) {
        const std::size_t bytes = bytes_of(count);
        void* const memory = ::operator new(bytes, alignment(bytes));
        // Only whole pages, because the memory after the last of them may belong to others.
        if (bytes >= huge_page_bytes) madvise(memory, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(bytes_of(count))); }
    template <class U>
    bool operator==(const AlignedAllocator<U, unit>&) const {
        return true;
    }

private:
    static std::size_t bytes_of(std::size_t count) { return (count * sizeof(T) + unit - 1) / unit * unit; }
    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t{bytes >= huge_page_bytes ? huge_page_bytes : unit};
    }
};

/// A vector whose first element is at the beginning of a cache line.
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

inline constexpr std::size_t page_bytes = 4096;

/// A vector with pages of its own, so that it can be locked: a page that is locked cannot be locked for others.
template <class T>
using PageVector = std::vector<T, AlignedAllocator<T, page_bytes>>;

} // namespace kumiki::kernels
