#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/common/buckets.hpp"

namespace kumiki::kernels::radix_sort {

/// The distribution of the keys to sort; all except `uniform` exist to test the balance between ranks.
enum class Distribution {
    uniform,
    gaussian_like, ///< the mean of four uniform keys: most keys share a few leading digits
    equal,         ///< one value
    sorted,        ///< evenly distributed and in order: every rank has few leading digits, and different ones from its
                   ///< neighbours
};

inline constexpr std::array all_distributions{Distribution::uniform, Distribution::gaussian_like, Distribution::equal,
                                              Distribution::sorted};
const char* name(Distribution distribution);

/// Key number `index` of `total`. It depends on nothing else, so every rank and thread computes its own part.
Key key_at(Distribution distribution, std::uint64_t index, std::uint64_t total);

/// Fills `keys` with the keys number `first`, first + 1, ...
void generate(Distribution distribution, std::uint64_t first, std::uint64_t total, std::span<Key> keys);

/// Distinguishes sets of keys regardless of their order: two sets with equal fingerprints are the same set, except with
/// a probability of about 2^-64. The fingerprint of a whole is the sum of those of its parts.
struct Fingerprint {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;  ///< of the keys, modulo 2^64
    std::uint64_t hash = 0; ///< sum of a hash of each key, modulo 2^64

    Fingerprint& operator+=(const Fingerprint& other);
    bool operator==(const Fingerprint&) const = default;
};
Fingerprint fingerprint(std::span<const Key> keys);

/// What one rank reports about its part of the result. Trivially copyable, because it is sent between ranks.
struct Inspection {
    Fingerprint fingerprint;
    Key first = 0, last = 0; ///< meaningless if there are no keys
    bool in_order = true;
};
Inspection inspect(std::span<const Key> keys);

/// Whether the parts, in rank order, are together the keys with the fingerprint `wanted`, in ascending order.
bool is_sorted_whole(std::span<const Inspection> parts, const Fingerprint& wanted);

} // namespace kumiki::kernels::radix_sort
