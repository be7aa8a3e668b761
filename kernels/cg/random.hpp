#pragma once

#include <cstdint>

namespace kumiki::kernels::cg {

/// The random numbers of the NAS parallel benchmarks: x' = 5^13 x mod 2^46, as a fraction of 2^46. 64-bit integers
/// compute it exactly, because 2^46 divides the modulus 2^64 that their products wrap at.
class Random {
public:
    static constexpr std::uint64_t first_seed = 314159265;

    explicit constexpr Random(std::uint64_t seed = first_seed) : state_(seed) {}

    /// The next number, in (0, 1).
    constexpr double operator()() {
        state_ = (multiplier * state_) % modulus;
        return static_cast<double>(state_) * 0x1p-46;
    }

private:
    static constexpr std::uint64_t multiplier = 1220703125; // 5^13
    static constexpr std::uint64_t modulus = std::uint64_t{1} << 46;
    std::uint64_t state_;
};

} // namespace kumiki::kernels::cg
