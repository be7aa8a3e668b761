#include "kernels/laplace/options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "kernels/common/hidden.hpp"

namespace kumiki::kernels::laplace {

void Options::add_common(CLI::App& program) {
    program.add_option("--size", problem.size, "rows and columns of the grid inside its boundary")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    program.add_option("--iterations", problem.iterations, "Jacobi steps of one run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    program.add_flag("--overlap", overlap,
                     "compute the edges first and let them travel while the inside is computed (ranks only)");
    budget.add_to(program);
}

void Options::add_forms(CLI::App& program) {
    program
        .add_option("--form", form,
                    "sequential, openmp (threads), hybrid (ranks x threads) or message (ranks); start the last two "
                    "with kumiki-run")
        ->check(CLI::IsMember({"sequential", "openmp", "hybrid", "message"}))
        ->capture_default_str();
    program.add_option("--threads", threads, "threads of the form openmp")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    const std::map<std::string, Communication> names{{"master", Communication::master}, {"edge", Communication::edge}};
    program
        .add_option("--communication", communication,
                    "threads of a rank that exchange rows with other ranks: master, or edge (first and last)")
        ->transform(CLI::Transformer(names))
        ->default_str("master");
    program.add_flag("--all-threads", all_threads,
                     "hybrid: compute with all threads even where the job has more of them than the host has cores");
    add_hidden(program, hidden, &form);
}

} // namespace kumiki::kernels::laplace
