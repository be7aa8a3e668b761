#pragma once

#include <cstddef>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// The options of the program shared.
struct SharedOptions {
    measure::Budget budget;
    std::size_t page = 4096;                     ///< bytes
    std::size_t scan = std::size_t{8} << 20;     ///< bytes of a sequential read
    std::size_t touched = std::size_t{32} << 20; ///< bytes of a fresh array

    static SharedOptions parse(int argc, char** argv);
};

} // namespace kumiki::bench
