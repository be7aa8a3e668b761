#pragma once

#include <string>

#include "kernels/laplace/problem.hpp"
#include "measure/sampling.hpp"

namespace CLI {
class App;
}

namespace kumiki::kernels::laplace {

/// Which threads of a rank exchange rows with other ranks.
enum class Communication {
    master, ///< thread 0 alone (COMPaS paper, section 5.3); communication then takes the same time however many threads
            ///< there are
    edge,   ///< the first and the last thread, whose rows they are
};

/// The command line of the programs laplace and laplace-<mpi>.
struct Options {
    Problem problem;
    measure::Budget budget;
    std::string form = "sequential";
    int threads = 1;
    Communication communication = Communication::master;
    bool overlap = false;
    bool hidden = false; ///< also measure how much of the communication the computation hides; message and MPI only
    bool all_threads = false; ///< compute with all threads even where there are more than cores

    /// What all forms accept.
    void add_common(CLI::App& program);
    /// What only the program laplace accepts.
    void add_forms(CLI::App& program);
};

} // namespace kumiki::kernels::laplace
