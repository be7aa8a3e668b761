#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kumiki::kernels {

/// A form that only one program has, and its help text.
struct OwnForm {
    std::string name, help;
};

/// The form of a program without MPI, as selected on the command line.
struct FormChoice {
    std::string form = "sequential";
    int threads = 0;             ///< of the form openmp, and of the program's own forms; 0: one per core
    bool all_threads = false;    ///< of Kumiki's ranks: compute with all threads even if there are more than cores
    std::string homes = "first"; ///< of the form shared: how pages get their homes
    std::string protocol = "invalidate"; ///< of the form shared: what barriers do with copies of changed pages
    std::size_t page = 0;                ///< of the form shared: bytes of a page; 0: the system's page
    std::vector<OwnForm> own_forms = {};

    void add_to(CLI::App& program);
    int threads_or_all_cores() const;
};

} // namespace kumiki::kernels
