#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "kernels/common/form_choice.hpp"
#include "kernels/common/split_choice.hpp"
#include "measure/program.hpp"
#include "measure/sampling.hpp"

namespace kumiki::kernels {

/// What starts a program's processes: either the program itself or kumiki-run, and then there is a choice of forms; or
/// an MPI.
enum class StartedBy { itself, mpi };

/// The options of most programs; a program with further options has its own Task.
template <class Problem>
struct ProblemTask {
    Problem problem;
    FormChoice choice; ///< ignored by the MPI programs
    measure::Budget budget;
};

/// The same for a program whose grid can be cut in different ways.
template <class Problem>
struct GridTask : ProblemTask<Problem> {
    SplitChoice split;
};

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
