#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/common/buckets.hpp"

namespace kumiki::kernels::is {

/// One of the keys whose ranks the benchmark publishes. Every iteration changes two keys, which shifts the ranks of all
/// others by a known number.
struct TestKey {
    std::uint64_t index; ///< of the key, in the sequence
    std::int64_t rank;   ///< how many keys are smaller, before the changes
    int step;            ///< the shift of its rank in each iteration
    int offset;

    std::int64_t rank_after(int iteration) const { return rank + step * iteration + offset; }
};

/// A class of the NAS parallel benchmark IS: ranks of integer keys, computed ten times. The distribution of the keys is
/// bell-shaped: each is a quarter of the sum of four random numbers.
struct Problem {
    std::string_view name;
    int count_bits; ///< 2^count_bits keys
    int key_bits;   ///< below 2^key_bits
    std::array<TestKey, 5> test_keys;

    static constexpr int iterations = 10;

    std::uint64_t count() const { return std::uint64_t{1} << count_bits; }
    Key largest() const { return Key{1} << key_bits; }
    LeadingDigit bucket_of() const { return {key_bits - bucket_bits}; }

    /// Fills `keys` with the benchmark's keys number `first`, first + 1, ...
    void generate(std::uint64_t first, std::span<Key> keys) const;

    /// The two keys that iteration 1, 2, ... 10 changes, by index: a small one and a large one, so that ranks change.
    struct Change {
        std::uint64_t index;
        Key key;
    };
    std::array<Change, 2> changes(int iteration) const {
        const auto number = static_cast<std::uint64_t>(iteration);
        return {{{number, static_cast<Key>(number)}, {number + iterations, largest() - static_cast<Key>(number)}}};
    }
    /// The number of keys at the beginning of the sequence that are ever changed.
    static constexpr std::uint64_t changing = 2 * iterations + 1;
};

inline constexpr std::array<Problem, 4> problems{{
    {"S",
     16,
     11,
     {{{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0}, {62548, 64917, -1, 0}, {4431, 65463, -1, 0}}}},
    {"W",
     20,
     16,
     {{{357773, 1249, 1, -2},
       {934767, 11698, 1, -2},
       {875723, 1039987, -1, 0},
       {898999, 1043896, -1, 0},
       {404505, 1048018, -1, 0}}}},
    {"A",
     23,
     19,
     {{{2112377, 104, 1, -1},
       {662041, 17523, 1, -1},
       {5336171, 123928, 1, -1},
       {3642833, 8288932, -1, 1},
       {4250760, 8388264, -1, 1}}}},
    {"B",
     25,
     21,
     {{{41869, 33422937, -1, 0},
       {812306, 10244, 1, 0},
       {5102857, 59149, 1, 0},
       {18232239, 33135281, -1, 0},
       {26860214, 99, 1, 0}}}},
}};

} // namespace kumiki::kernels::is
