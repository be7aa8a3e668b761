#pragma once

#include <cstddef>
#include <vector>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// What remote-memory and its peers accept.
struct RemoteMemoryOptions {
    measure::Budget budget;
    bool all_sizes = false;
    std::size_t largest = std::size_t{64} << 20;

    static RemoteMemoryOptions parse(int argc, char** argv);
    /// 1 B up to `largest` by factors of 4, or of 2 with --all.
    std::vector<std::size_t> sizes() const;
};

} // namespace kumiki::bench
