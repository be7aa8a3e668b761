#pragma once

#include <array>
#include <cstdint>

#include "platform/memory.hpp"

namespace kumiki::fabric {

/// A secret that admits a message. Each rank makes its own key and writes it on its card, which only the ranks of its
/// job get; every message to the rank must show the key (docs/decisions/strangers.md).
struct Key {
    std::array<std::uint64_t, 2> half{};

    static Key make() { return {{platform::random_number(), platform::random_number()}}; }
    /// Takes constant time, wherever the two differ, so that timing does not reveal a key piece by piece.
    friend bool operator==(const Key& one, const Key& other) {
        return ((one.half[0] ^ other.half[0]) | (one.half[1] ^ other.half[1])) == 0;
    }
};

} // namespace kumiki::fabric
