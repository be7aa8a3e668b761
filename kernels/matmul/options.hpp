#pragma once

#include <cstddef>
#include <string>

#include "measure/sampling.hpp"

namespace CLI {
class App;
}

namespace kumiki::kernels::matmul {

/// How a rank comes by the panels of other ranks.
enum class Fetch {
    in_place, ///< read where they lie; ranks on other hosts fall back to get
    get,      ///< copied, the next one while the present one is multiplied
};

/// The command line of the programs matmul and matmul-<mpi>.
struct Options {
    std::size_t size = 1800;
    std::size_t panel = 0; ///< greatest depth of a panel, 0: as deep as the owners' blocks
    measure::Budget budget;
    std::string form = "sequential";
    int threads = 1;
    Fetch fetch = Fetch::in_place;
    bool all_threads = false; ///< compute with all threads even where there are more than cores

    /// What all forms accept.
    void add_common(CLI::App& program);
    /// What only the program matmul accepts.
    void add_forms(CLI::App& program);
};

} // namespace kumiki::kernels::matmul
