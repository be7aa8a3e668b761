#pragma once

#include <cstddef>

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {

/// The positions of the words that the targets of MPI and UCX poll, before the data; each has its own line. Batches of
/// ping-pong go from line to line as in Kumiki's (Mailbox).
struct PolledWords {
    static constexpr std::size_t turns = 64;
    static constexpr std::size_t turn(std::size_t batch) { return batch % turns * line; }
    static constexpr std::size_t announced = turns * line;
    static constexpr std::size_t answered = announced + line;
    static constexpr std::size_t bytes = announced + 4096; ///< the data begin here, on a page boundary
};

} // namespace kumiki::bench
