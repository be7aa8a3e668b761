#pragma once

#include <string>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// What rank-barrier and its MPI peers accept.
struct RankBarrierOptions {
    measure::Budget budget;
    double computation = 2; ///< us between enter and wait of the split-phase barrier

    static RankBarrierOptions parse(int argc, char** argv);
    std::string note() const;
};

} // namespace kumiki::bench
