#pragma once

#include <cstddef>

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {

/// Where the words that MPI's and UCX's targets poll lie in their memory, before the data; each has its line to itself.
/// Batches of ping-pong go from line to line as Kumiki's do (Mailbox).
struct PolledWords {
    static constexpr std::size_t turns = 64;
    static constexpr std::size_t turn(std::size_t batch) { return batch % turns * line; }
    static constexpr std::size_t announced = turns * line;
    static constexpr std::size_t answered = announced + line;
    static constexpr std::size_t bytes = announced + 4096; ///< here the data begin, at a page
};

} // namespace kumiki::bench
