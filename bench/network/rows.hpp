#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "bench/remote-memory/sizes.hpp"

// The common part of the programs that measure a network: their rows and their range of sizes.

namespace kumiki::bench {

inline constexpr std::size_t smallest_transfer = 1024;
/// A batch may consist of one transfer, because the network limits it and not a cache.
inline constexpr SweepLimits network_limits{.least_count = 1, .longest_seconds = 0.25};

inline Row network_latency(std::string implementation, const std::string& operation) {
    return with(latency_row("network.latency", std::move(implementation)), "operation", operation);
}

inline Row network_bandwidth(std::string implementation, const std::string& operation, std::size_t bytes) {
    return with(bandwidth_row("network.bandwidth", std::move(implementation), bytes), "operation", operation);
}

inline SizedMover network_mover(std::string implementation, std::string operation, Mover mover) {
    return {[implementation = std::move(implementation), operation = std::move(operation)](std::size_t bytes) {
                return network_bandwidth(implementation, operation, bytes);
            },
            std::move(mover)};
}

} // namespace kumiki::bench
