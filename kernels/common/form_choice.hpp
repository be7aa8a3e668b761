#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kumiki::kernels {

/// A form that only one program has, and what its help says of it.
struct OwnForm {
    std::string name, help;
};

/// The form of a program that runs without MPI, as the command line chooses it.
struct FormChoice {
    std::string form = "sequential";
    int threads = 0;          ///< of the form openmp, and of own forms; 0: one per core
    bool all_threads = false; ///< of hybrid and message: compute with all threads even where there are more than cores
    std::vector<OwnForm> own_forms = {};

    void add_to(CLI::App& program);
    int threads_or_all_cores() const;
};

} // namespace kumiki::kernels
