#include "kernels/is/task.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace kumiki::kernels::is {
namespace {

void add_options(CLI::App& program, Task& task) {
    std::vector<std::string> names;
    for (const Problem& problem : problems) names.emplace_back(problem.name);
    const auto choose = [&task](const std::string& name) {
        task.problem = *std::ranges::find(problems, name, &Problem::name);
    };
    choose("A");
    program.add_option_function<std::string>("--class", choose, "S, W, A or B: the benchmark's problem sizes")
        ->check(CLI::IsMember(names))
        ->default_str("A");
    task.budget.add_to(program);
}

} // namespace

Task parse_task(int argc, char** argv) {
    Task task;
    CLI::App program("The integer sort of the NAS parallel benchmarks", "is");
    task.choice.add_to(program);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

Task parse_mpi_task(const char* name, int argc, char** argv) {
    Task task;
    CLI::App program("The integer sort of the NAS parallel benchmarks, plain MPI", name);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

} // namespace kumiki::kernels::is
