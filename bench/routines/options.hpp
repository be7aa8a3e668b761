#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// What routines and its peers accept. The defaults are the JAMSTEC paper's: 1 KiB to 32 MiB by factors of 2, 10 calls
/// to warm up and 100 timed ones, here as 10 samples of 10 calls. However little time there is, so many calls are
/// timed; where there is more, others follow.
struct RoutineOptions {
    measure::Budget budget{.samples = 10, .seconds = 1};
    std::uint64_t calls = 10, timed_calls = 100;
    std::size_t smallest = std::size_t{1} << 10;
    std::size_t largest = std::size_t{32} << 20;

    static RoutineOptions parse(int argc, char** argv);
    std::vector<std::size_t> sizes() const;
    /// The budget of a size.
    measure::Budget rounds() const;
};

} // namespace kumiki::bench
