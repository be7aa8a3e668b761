#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "platform/memory.hpp"

namespace kumiki::dsm {

/// Where the ranks of a host tell each other at a barrier that there are notices to exchange. A rank that has some says
/// so before it enters the barrier, and all look when they have left it; so a barrier without notices costs no more
/// than that. The barrier orders the stores before the loads. Two words are used in turn: a rank that is one barrier
/// ahead uses the other one, and no rank is two ahead. Zeros: nobody has said anything.
struct alignas(platform::apart) WrittenWords {
    void set(std::uint64_t barrier) { words[barrier % 2].store(barrier, std::memory_order_relaxed); }
    bool is_set(std::uint64_t barrier) const { return words[barrier % 2].load(std::memory_order_relaxed) == barrier; }

    std::array<std::atomic<std::uint64_t>, 2> words;
};

} // namespace kumiki::dsm
