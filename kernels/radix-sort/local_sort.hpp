#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/radix-sort/keys.hpp"

namespace kumiki::kernels::radix_sort {

/// What sorts the keys of one thread.
enum class Kernel {
    plain, ///< radix sort by the least significant digit first, our own
    vector ///< Highway's vector quicksort
};
const char* name(Kernel kernel);

/// Whether this build has the vector kernel (it needs Highway, package libhwy-dev).
bool has_vector_kernel();

/// Sorts by the least significant digit first. Digits that all keys share cost nothing but their count, so the keys of
/// one bucket of a leading digit take three passes. `scratch` is at least as long as `keys`.
void sort_by_digits(std::span<Key> keys, std::span<Key> scratch);

/// Sorts keys in place, again and again; keeps what memory the kernel needs beside. One object per thread.
class LocalSort {
public:
    /// Throws std::runtime_error when this build lacks the kernel.
    explicit LocalSort(Kernel kernel);
    ~LocalSort();
    LocalSort(LocalSort&&) noexcept;

    void operator()(std::span<Key> keys);

private:
    struct Vector;
    std::unique_ptr<Vector> vector_;
    std::vector<Key> scratch_;
};

} // namespace kumiki::kernels::radix_sort
