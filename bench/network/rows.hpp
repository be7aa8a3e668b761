#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bench/remote-memory/loops.hpp"

// What is alike in the programs that measure a network: their rows, and how far the sizes go.

namespace kumiki::bench {

inline constexpr std::size_t smallest_transfer = 1024;
/// A size that takes longer than this is not measured: a slow network would take minutes to say again what it said at
/// smaller ones.
inline constexpr double longest_seconds = 0.25;

inline Row network_latency(std::string implementation, const std::string& operation) {
    return with(latency_row("network.latency", std::move(implementation)), "operation", operation);
}

inline Row network_bandwidth(std::string implementation, const std::string& operation, std::size_t bytes) {
    return with(bandwidth_row("network.bandwidth", std::move(implementation), bytes), "operation", operation);
}

/// How often a transfer fills a batch; once is enough, for what limits it is the network and no cache.
template <World W>
std::uint64_t network_batch(W& world, const Mover& mover, std::size_t bytes, Batches& batches) {
    return batch_of(world, mover, bytes, batches, 1);
}

/// Whether one transfer of the size takes so long that it is left out; all ranks get the same answer.
template <World W>
bool too_long(W& world, const Mover& mover, std::size_t bytes, Batches& batches) {
    return world.broadcast(move_batch(world, mover, bytes, 1, batches).first > longest_seconds) != 0;
}

} // namespace kumiki::bench
