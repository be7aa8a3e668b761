#pragma once

#include <cstdint>

namespace kumiki::kernels {

/// The random numbers of the NAS parallel benchmarks: x' = 5^13 x mod 2^46, as a fraction of 2^46. 64-bit integers
/// compute it exactly, because 2^46 divides 2^64, the modulus of their products.
class NpbRandom {
public:
    static constexpr std::uint64_t first_seed = 314159265;
    static constexpr int bits = 46;

    explicit constexpr NpbRandom(std::uint64_t seed = first_seed) : state_(seed) {}

    /// The next number, in (0, 1).
    constexpr double operator()() { return static_cast<double>(next()) * 0x1p-46; }
    /// The next number times 2^46.
    constexpr std::uint64_t next() { return state_ = multiplier * state_ % modulus; }

    /// Skips `count` numbers.
    constexpr void skip(std::uint64_t count) {
        for (std::uint64_t power = multiplier; count > 0; count /= 2, power = power * power % modulus)
            if (count % 2 == 1) state_ = power * state_ % modulus;
    }

private:
    static constexpr std::uint64_t multiplier = 1220703125; // 5^13
    static constexpr std::uint64_t modulus = std::uint64_t{1} << bits;
    std::uint64_t state_;
};

} // namespace kumiki::kernels
