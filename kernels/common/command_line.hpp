#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "kernels/common/task.hpp"
#include "measure/program.hpp"

namespace kumiki::kernels {

/// Reads the command line of the program `name` into a Task, which has a `choice` of form and a `budget` of samples;
/// add(program, task) adds the program's own options. Ends the process on --help or wrong usage.
template <class Task, class AddOptions>
Task read_task(const std::string& name, const std::string& what, StartedBy by, AddOptions add, int argc, char** argv) {
    Task task;
    CLI::App program(by == StartedBy::mpi ? what + ", with plain MPI" : what, name);
    if (by == StartedBy::itself) task.choice.add_to(program);
    add(program, task);
    task.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

} // namespace kumiki::kernels
