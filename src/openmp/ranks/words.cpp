#include "openmp/ranks/words.hpp"

#include <cstdlib>
#include <fmt/format.h>

#include "openmp/process.hpp"

namespace kumiki::openmp {

std::uint64_t Words::found(const Result<std::uint64_t>& before) const {
    if (before) return *before;
    say(fmt::format("rank {} ends: {}", fabric_.rank(), before.error().message));
    std::_Exit(1);
}

void Words::announce(int first, int behind) const {
    const SignalsLater later;
    const auto& memory = fabric_.memory();
    const std::uint64_t offset = memory.offset(region_);
    for (int rank = first; rank < behind; ++rank) {
        if (!memory.is_remote(rank)) {
            word(memory.arena(rank) + offset).fetch_add(1, std::memory_order_release);
            fabric_.progress().ring(rank);
            continue;
        }
        const fabric::Network::Signal signal{offset + at(changes), KUMIKI_SIGNAL_ADD, 1};
        // A rank that cannot be reached ends the job.
        static_cast<void>(fabric_.network()->put(rank, offset, {}, &signal));
    }
}

} // namespace kumiki::openmp
