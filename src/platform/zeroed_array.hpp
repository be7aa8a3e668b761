#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace kumiki::platform {

/// An array of a fixed length whose values begin as zero bytes. A long one uses memory only where it has been written:
/// calloc() takes it from the system, whose fresh pages are zeros. For tables with an entry for each page of an array
/// that may be as long as all memory, and of which a program touches a part.
template <class T>
class ZeroedArray {
    static_assert(std::is_trivially_destructible_v<T>);

public:
    ZeroedArray() = default; ///< of no length
    explicit ZeroedArray(std::size_t count)
        : values_(static_cast<T*>(std::calloc(std::max<std::size_t>(count, 1), sizeof(T)))), count_(count) {
        if (values_ == nullptr) throw std::bad_alloc();
    }

    T& operator[](std::size_t at) { return values_.get()[at]; }
    const T& operator[](std::size_t at) const { return values_.get()[at]; }
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }

private:
    struct Free {
        void operator()(T* values) const { std::free(values); } // NOLINT: calloc() made it
    };
    std::unique_ptr<T, Free> values_;
    std::size_t count_ = 0;
};

} // namespace kumiki::platform
