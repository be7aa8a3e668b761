#pragma once

#include <array>
#include <cstdint>

#include "platform/memory.hpp"

namespace kumiki::fabric {

/// What lets a message in. Each rank makes a key of its own and writes it on its card, which only the ranks of its job
/// get; whoever sends to it shows the key in every message (docs/decisions/strangers.md).
struct Key {
    std::array<std::uint64_t, 2> half{};

    static Key make() { return {{platform::random_number(), platform::random_number()}}; }
    /// Takes the same time wherever the two differ, so that nobody can find out a key piece by piece.
    friend bool operator==(const Key& one, const Key& other) {
        return ((one.half[0] ^ other.half[0]) | (one.half[1] ^ other.half[1])) == 0;
    }
};

} // namespace kumiki::fabric
