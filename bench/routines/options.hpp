#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// The options of routines and its peers. The defaults are those of the JAMSTEC paper: 1 KiB to 32 MiB by factors of 2,
/// 10 calls to warm up and 100 timed calls, here as 10 samples of 10 calls. So many calls are timed even if there is
/// little time; if there is more time, further calls follow.
struct RoutineOptions {
    measure::Budget budget{.samples = 10, .seconds = 1};
    std::uint64_t calls = 10, timed_calls = 100;
    std::size_t smallest = std::size_t{1} << 10;
    std::size_t largest = std::size_t{32} << 20;

    static RoutineOptions parse(int argc, char** argv);
    std::vector<std::size_t> sizes() const;
    /// The budget for one size.
    measure::Budget rounds() const;
};

} // namespace kumiki::bench
