#include "kernels/matmul/options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "kernels/matmul/matrix.hpp"

namespace kumiki::kernels::matmul {

void Options::add_common(CLI::App& program) {
    program.add_option("--size", size, "rows and columns of the matrices")
        ->check(CLI::Range(std::size_t{1}, largest_size))
        ->capture_default_str();
    program
        .add_option("--panel", panel,
                    "greatest depth of the panels that travel between ranks; 0: as deep as a rank's block")
        ->capture_default_str();
    budget.add_to(program);
}

void Options::add_forms(CLI::App& program) {
    program
        .add_option("--form", form,
                    "sequential; openmp (threads); library (the BLAS library's own threads); bound (the same, reported "
                    "as bound.dgemm); or "
                    "hybrid (ranks x threads; start it with kumiki-run)")
        ->check(CLI::IsMember({"sequential", "openmp", "library", "bound", "hybrid"}))
        ->capture_default_str();
    program.add_option("--threads", threads, "threads of the forms openmp, library and bound")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    const std::map<std::string, Fetch> names{{"in-place", Fetch::in_place}, {"get", Fetch::get}};
    program
        .add_option("--fetch", fetch,
                    "hybrid: in-place (read the other ranks' panels where they lie), or get (copy them, overlapped)")
        ->transform(CLI::Transformer(names))
        ->default_str("in-place");
    program.add_flag("--all-threads", all_threads,
                     "hybrid: compute with all threads even where the job has more of them than the host has cores");
}

} // namespace kumiki::kernels::matmul
