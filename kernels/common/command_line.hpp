#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "kernels/common/form_choice.hpp"
#include "kernels/common/split_choice.hpp"
#include "measure/program.hpp"
#include "measure/sampling.hpp"

namespace kumiki::kernels {

/// Who starts a program's processes: itself or kumiki-run, and then it has a choice of forms; or an MPI.
enum class StartedBy { itself, mpi };

/// What the command line of most programs asks for; those that have more options of their own have a Task of their own.
template <class Problem>
struct ProblemTask {
    Problem problem;
    FormChoice choice; ///< of no meaning in the MPI programs
    measure::Budget budget;
};

/// The same for a program that lets the user choose how its grid is cut.
template <class Problem>
struct GridTask : ProblemTask<Problem> {
    SplitChoice split;
};

/// Reads the command line of the program `name` into a Task, which has a `choice` of form and a `budget` of samples;
/// add(program, task) adds the options that are the program's own. Ends the process on --help or wrong usage.
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
