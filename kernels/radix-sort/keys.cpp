#include "kernels/radix-sort/keys.hpp"

#include <algorithm>

#include "kernels/common/mixed.hpp"

namespace kumiki::kernels::radix_sort {
namespace {

/// The generator SplitMix64: well mixed bits of a counter.
std::uint64_t mix(std::uint64_t counter) { return mixed((counter + 1) * 0x9E3779B97F4A7C15u); }

Key high(std::uint64_t word) { return static_cast<Key>(word >> 32); }
Key low(std::uint64_t word) { return static_cast<Key>(word); }

Key mean_of_four(std::uint64_t index) {
    const std::uint64_t one = mix(2 * index), other = mix(2 * index + 1);
    return static_cast<Key>((std::uint64_t{high(one)} + low(one) + high(other) + low(other)) / 4);
}

/// index * 2^32 / total without overflow.
Key evenly_spread(std::uint64_t index, std::uint64_t total) {
    return static_cast<Key>(static_cast<long double>(index) * 4294967296.0L / static_cast<long double>(total));
}

} // namespace

const char* name(Distribution distribution) {
    switch (distribution) {
    case Distribution::uniform: return "uniform";
    case Distribution::gaussian_like: return "gaussian-like";
    case Distribution::equal: return "equal";
    case Distribution::sorted: return "sorted";
    }
    return "";
}

Key key_at(Distribution distribution, std::uint64_t index, std::uint64_t total) {
    switch (distribution) {
    case Distribution::uniform: return high(mix(index));
    case Distribution::gaussian_like: return mean_of_four(index);
    case Distribution::equal: return 0x6B756D69;
    case Distribution::sorted: return evenly_spread(index, total);
    }
    return 0;
}

void generate(Distribution distribution, std::uint64_t first, std::uint64_t total, std::span<Key> keys) {
    for (Key& key : keys) key = key_at(distribution, first++, total);
}

Fingerprint& Fingerprint::operator+=(const Fingerprint& other) {
    count += other.count;
    sum += other.sum;
    hash += other.hash;
    return *this;
}

Fingerprint fingerprint(std::span<const Key> keys) {
    Fingerprint print{keys.size()};
    for (const Key key : keys) {
        print.sum += key;
        print.hash += mix(key);
    }
    return print;
}

Inspection inspect(std::span<const Key> keys) {
    if (keys.empty()) return {};
    return {fingerprint(keys), keys.front(), keys.back(), std::ranges::is_sorted(keys)};
}

bool is_sorted_whole(std::span<const Inspection> parts, const Fingerprint& wanted) {
    Fingerprint found;
    Key largest_before = 0;
    for (const Inspection& part : parts) {
        found += part.fingerprint;
        if (part.fingerprint.count == 0) continue;
        if (!part.in_order || part.first < largest_before) return false;
        largest_before = part.last;
    }
    return found == wanted;
}

} // namespace kumiki::kernels::radix_sort
