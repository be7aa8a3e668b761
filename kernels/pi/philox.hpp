#pragma once

#include <array>
#include <cstdint>

namespace kumiki::kernels::pi {

/// The counter-based generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3,
/// SC'11): it computes four random words from a number and has no state. So every worker computes the numbers of its
/// own trials, streams cannot overlap, and it does not matter which worker computes which numbers.
struct Philox {
    static constexpr int rounds = 10;
    static constexpr std::uint32_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
    static constexpr std::uint32_t key_steps[] = {0x9E3779B9, 0xBB67AE85};

    using Words = std::array<std::uint32_t, 4>;
    using Key = std::array<std::uint32_t, 2>;

    static constexpr Words words(Words counter, Key key) {
        constexpr auto high = [](std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); };
        for (int round = 0; round < rounds; ++round) {
            const std::uint64_t first = std::uint64_t{multipliers[0]} * counter[0];
            const std::uint64_t second = std::uint64_t{multipliers[1]} * counter[2];
            counter = {high(second) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
                       high(first) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
            for (std::size_t i = 0; i < 2; ++i) key[i] += key_steps[i];
        }
        return counter;
    }
};

} // namespace kumiki::kernels::pi
