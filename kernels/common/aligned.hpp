#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace kumiki::kernels {

/// What vectors of numbers are aligned to: a cache line, which is also the widest vector register.
inline constexpr std::size_t line_bytes = 64;

template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(line_bytes)));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, std::align_val_t(line_bytes)); }
    template <class U>
    bool operator==(const AlignedAllocator<U>&) const {
        return true;
    }
};

/// A vector whose first element lies at the beginning of a cache line.
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

} // namespace kumiki::kernels
