#pragma once

#include "kernels/cg/solver.hpp"
#include "kernels/common/task.hpp"

namespace kumiki::kernels::cg {

/// The options of the command line.
struct Task {
    Problem problem = problems.front();
    FormChoice choice;   ///< ignored by the MPI programs
    bool hidden = false; ///< form message: also measure how much of the communication is hidden by computation
    measure::Budget budget;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// Measures the task on a crew, checks every run, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Solver<C> solver(crew, task.problem);
    bool valid = true;
    const auto runs = sample_crew(crew, task.budget, [&] {
        const RunTimes times = solver.run();
        valid &= solver.verified();
        return times;
    });

    JobReport report = report_of("cg", crew.workers());
    report.parameters["class"] = std::string(task.problem.name);
    report.work = task.problem.operations() / 1e6;
    report.rate_unit = "Mop/s";
    report.own_parts = {"product", "vectors", "exchange", "sums"};
    const int code = conclude(crew, report, runs, valid);
    if (task.hidden)
        print_hidden(crew, report, code == measure::success, task.budget,
                     [&](Extent extent) { return solver.run(extent); });
    return code;
}

} // namespace kumiki::kernels::cg
