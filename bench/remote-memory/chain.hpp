#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "bench/remote-memory/mailbox.hpp"

namespace kumiki::bench {

/// A closed walk through many lines in random order, where each line holds the way to the next: reading it costs one
/// whole trip to the other memory per step, because no step can start before the last one ended and the owner has just
/// written all lines. A word: bits 0..31 the next link, bit 32 set by a fetch-add that came by, bits 33.. the batch.
class Chain {
public:
    static constexpr std::size_t links = 4096;
    static constexpr std::uint64_t visited = std::uint64_t{1} << 32;

    Chain() {
        std::vector<std::uint32_t> order(links);
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
        next_.resize(links);
        for (std::size_t i = 0; i < links; ++i) next_[order[i]] = order[(i + 1) % links];
    }

    void write(std::span<Link> lines, std::uint64_t batch) const {
        for (std::size_t i = 0; i < links; ++i) lines[i].word = word(i, batch);
    }

    /// Goes all the way round by fetch(index) -> word; true if every step found what it should.
    template <class Fetch>
    bool walk(std::uint64_t batch, Fetch fetch) const {
        std::uint64_t at = 0, wrong = 0;
        for (std::size_t step = 0; step < links; ++step) {
            const std::uint64_t word = fetch(at);
            wrong |= (word >> 33) ^ batch;
            at = word % links;
        }
        return wrong == 0 && at == 0;
    }

    bool all_visited(std::span<const Link> lines, std::uint64_t batch) const {
        for (std::size_t i = 0; i < links; ++i)
            if (lines[i].word != (word(i, batch) | visited)) return false;
        return true;
    }

private:
    std::uint64_t word(std::size_t i, std::uint64_t batch) const { return batch << 33 | next_[i]; }

    std::vector<std::uint32_t> next_;
};

} // namespace kumiki::bench
