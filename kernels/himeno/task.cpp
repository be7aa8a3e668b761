#include "kernels/himeno/task.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace kumiki::kernels::himeno {

namespace {

void add_options(CLI::App& program, Task& task) {
    std::vector<std::string> names;
    for (const Problem& problem : problems) names.emplace_back(problem.name);
    const auto choose = [&task](const std::string& name) {
        task.problem = *std::ranges::find(problems, name, &Problem::name);
    };
    choose("M");
    program.add_option_function<std::string>("--size", choose, "SS, S, M or L: the benchmark's sizes")
        ->check(CLI::IsMember(names))
        ->default_str("M");
    program.add_option("--sweeps", task.sweeps, "Jacobi sweeps of one run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    const std::map<std::string, Split> splits{{"planes", Split::planes}, {"pencils", Split::pencils}};
    program.add_option("--split", task.split, "how the grid is cut: planes (1-D, the paper's) or pencils (2-D)")
        ->transform(CLI::CheckedTransformer(splits).description(""))
        ->default_str("planes");
    task.budget.add_to(program);
}

} // namespace

Task parse_task(int argc, char** argv) {
    Task task;
    CLI::App program("The Himeno benchmark: a pressure Poisson equation by Jacobi's method, single precision",
                     "himeno");
    task.choice.add_to(program);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

Task parse_mpi_task(const char* name, int argc, char** argv) {
    Task task;
    CLI::App program("The Himeno benchmark with plain MPI", name);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

} // namespace kumiki::kernels::himeno
