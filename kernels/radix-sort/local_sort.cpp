#include "kernels/radix-sort/local_sort.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernels/radix-sort/digit.hpp"

#if KUMIKI_HAS_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace kumiki::kernels::radix_sort {
namespace {

using Counters = std::array<std::array<std::size_t, bucket_count>, key_digits>;

Counters count_all_digits(std::span<const Key> keys) {
    Counters counters{};
    for (const Key key : keys)
        for (int place = 0; place < key_digits; ++place) ++counters[static_cast<std::size_t>(place)][digit(key, place)];
    return counters;
}

/// Distributes `from` to `to` by one digit, keeping the order of equal digits.
void distribute(std::span<const Key> from, std::span<Key> to, int place,
                std::array<std::size_t, bucket_count>& counts) {
    std::size_t begin = 0;
    for (std::size_t& count : counts) begin += std::exchange(count, begin);
    for (const Key key : from) to[counts[digit(key, place)]++] = key;
}

} // namespace

const char* name(Kernel kernel) { return kernel == Kernel::plain ? "plain" : "vector"; }

void sort_by_digits(std::span<Key> keys, std::span<Key> scratch) {
    // Below this number of keys, clearing and adding up the counters costs more than comparisons do.
    constexpr std::size_t worth_counting = 256;
    if (keys.size() < worth_counting) {
        std::ranges::sort(keys);
        return;
    }
    Counters counters = count_all_digits(keys);
    std::span<Key> from = keys, to = scratch.first(keys.size());
    for (int place = 0; place < key_digits; ++place) {
        auto& counts = counters[static_cast<std::size_t>(place)];
        if (counts[digit(keys.front(), place)] == keys.size()) continue;
        distribute(from, to, place, counts);
        std::swap(from, to);
    }
    if (from.data() != keys.data()) std::ranges::copy(from, keys.begin());
}

#if KUMIKI_HAS_HIGHWAY
bool has_vector_kernel() { return true; }
struct LocalSort::Vector {
    hwy::Sorter sort;
};
#else
bool has_vector_kernel() { return false; }
struct LocalSort::Vector {};
#endif

LocalSort::LocalSort(Kernel kernel) {
    if (kernel == Kernel::plain) return;
    if (!has_vector_kernel())
        throw std::runtime_error(
            "this build has no vector kernel: install Highway (libhwy-dev) and build again, or give --kernel plain");
    vector_ = std::make_unique<Vector>();
}

LocalSort::~LocalSort() = default;
LocalSort::LocalSort(LocalSort&&) noexcept = default;

void LocalSort::operator()(std::span<Key> keys) {
#if KUMIKI_HAS_HIGHWAY
    if (vector_) return vector_->sort(keys.data(), keys.size(), hwy::SortAscending());
#endif
    if (scratch_.size() < keys.size()) scratch_.resize(keys.size());
    sort_by_digits(keys, scratch_);
}

} // namespace kumiki::kernels::radix_sort
