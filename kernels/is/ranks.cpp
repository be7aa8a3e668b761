#include "kernels/is/ranks.hpp"

#include <algorithm>
#include <utility>

#include "kernels/common/mixed.hpp"

namespace kumiki::kernels::is {

void Ranks::begin(Range buckets) {
    buckets_ = buckets;
    ranks_.assign(buckets.size() << bucket_of_.shift, 0);
}

void Ranks::count(std::size_t bucket, std::span<const Key> keys) {
    const Key first = first_key(bucket);
    const auto counts = of(bucket);
    for (const Key key : keys) ++counts[key - first];
}

void Ranks::finish(std::size_t bucket, std::uint64_t smaller) {
    auto before = static_cast<std::uint32_t>(smaller);
    for (std::uint32_t& rank : of(bucket)) before += std::exchange(rank, before);
}

void Arrangement::place(std::span<const Key> keys) {
    for (const Key key : keys) {
        const std::uint64_t place = next_[key]++ - smaller_;
        if (place < keys_.size()) keys_[place] = key;
        else overflown_ = true;
    }
}

bool Arrangement::complete() const {
    return !overflown_ && std::ranges::is_sorted(keys_) && (keys_.empty() || keys_.back() != unset);
}

std::uint64_t fingerprint(std::span<const Key> keys) {
    std::uint64_t sum = 0;
    for (const Key key : keys) sum += mixed(std::uint64_t{key} + 1);
    return sum;
}

} // namespace kumiki::kernels::is
