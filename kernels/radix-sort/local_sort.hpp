#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/radix-sort/keys.hpp"

namespace kumiki::kernels::radix_sort {

/// The kernel that sorts the keys of one thread.
enum class Kernel {
    plain, ///< Kumiki's own radix sort by the least significant digit first
    vector ///< Highway's vector quicksort
};
const char* name(Kernel kernel);

/// Whether this build has the vector kernel (it needs Highway, package libhwy-dev).
bool has_vector_kernel();

/// Sorts by the least significant digit first. Digits that all keys share cost no more than counting, so the keys of
/// one bucket of a leading digit take three passes. `scratch` is at least as long as `keys`.
void sort_by_digits(std::span<Key> keys, std::span<Key> scratch);

/// Sorts keys in place, repeatedly; keeps the additional memory that the kernel needs. One object per thread.
class LocalSort {
public:
    /// Throws std::runtime_error if this build does not have the kernel.
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
