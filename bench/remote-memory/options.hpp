#pragma once

#include <cstddef>
#include <vector>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// The options of remote-memory and network and their peers.
struct RemoteMemoryOptions {
    measure::Budget budget;
    bool all_sizes = false;
    std::size_t smallest = 1;
    std::size_t largest = std::size_t{64} << 20;

    static RemoteMemoryOptions parse(int argc, char** argv, std::size_t smallest = 1);
    /// The same, but only the largest size is used unless the command line also names the smallest.
    static RemoteMemoryOptions parse_largest(int argc, char** argv);
    /// `smallest` to `largest` bytes by factors of 4, or of 2 with --all.
    std::vector<std::size_t> sizes() const;
};

} // namespace kumiki::bench
