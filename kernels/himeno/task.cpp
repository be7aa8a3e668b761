#include "kernels/himeno/task.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::himeno {

namespace {

void add_options(CLI::App& program, Task& task, StartedBy by) {
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
    task.split.add_to(program);
    if (by == StartedBy::mpi) program.add_flag("--sendrecv", task.sendrecv, "exchange edges by MPI_Sendrecv alone");
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(
        name, "The Himeno benchmark: a pressure Poisson equation by Jacobi's method, single precision", by,
        [by](CLI::App& program, Task& task) { add_options(program, task, by); }, argc, argv);
}

} // namespace kumiki::kernels::himeno
