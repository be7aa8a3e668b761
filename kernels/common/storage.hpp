#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/common/aligned.hpp"

namespace kumiki::kernels {

/// `count` elements of the memory that a crew gives a worker, from `begin` on; none if it gives none.
template <class T>
std::span<T> part_of_memory(std::span<T> given, std::size_t begin, std::size_t count) {
    return given.empty() ? given : given.subspan(begin, count);
}

/// The elements of one worker's part of a grid, all 0: in the memory that its crew gives it, or in memory of its own
/// if the crew gives none.
template <class T>
class Storage {
public:
    /// `given` has at least `count` elements, or none.
    explicit Storage(std::size_t count, std::span<T> given = {})
        : own_(given.empty() ? count : 0), data_(given.empty() ? own_.data() : given.data()), size_(count) {}
    Storage(Storage&&) noexcept = default;
    /// Copies the elements; `other` has as many.
    Storage& operator=(const Storage& other) {
        if (this != &other) std::ranges::copy(other, data_);
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t index) { return data_[index]; }
    const T& operator[](std::size_t index) const { return data_[index]; }

private:
    AlignedVector<T> own_;
    T* data_;
    std::size_t size_;
};

} // namespace kumiki::kernels
