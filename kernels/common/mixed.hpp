#pragma once

#include <cstdint>

namespace kumiki::kernels {

/// The finishing step of the generator SplitMix64: a bijection in which every bit of the input changes about half of
/// the output's bits. Sums of its values distinguish sets and arrays.
constexpr std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

} // namespace kumiki::kernels
