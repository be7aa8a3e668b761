#pragma once

#include <string>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// The options of rank-barrier and its MPI peers.
struct RankBarrierOptions {
    measure::Budget budget;
    double computation = 2; ///< us between enter and wait of the split-phase barrier

    static RankBarrierOptions parse(int argc, char** argv);
    std::string note() const;
};

} // namespace kumiki::bench
