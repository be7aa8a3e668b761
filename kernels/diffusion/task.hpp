#pragma once

#include <iostream>
#include <string>

#include "kernels/common/task.hpp"
#include "kernels/diffusion/solver.hpp"

namespace kumiki::kernels::diffusion {

using Task = GridTask<Problem>;

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// For a remark: the number of iterations of a half step, if it has any.
std::string iterations_text(const Problem& problem);

/// Measures the task on a crew with its Direct or Jacobi, checks the last run, and lets rank 0 print the rows; returns
/// the exit code. A remark after the rows contains the checksum, which must be the same for every number of workers.
template <class LineSolver, Crew C>
int measure_with(C& crew, const Task& task, const SplitChoice& split) {
    const Problem& problem = task.problem;
    Solver<LineSolver> solver(crew, problem, split);
    const auto runs = sample_crew(crew, task.budget, [&] { return solver.run(); });
    const Result result = solver.result();
    if (crew.rank() == 0)
        std::clog << iterations_text(problem) << "amplitude " << problem.scheme_decay() << ", exact "
                  << problem.exact_decay() << "; " << result.wrong_points << " wrong points; checksum "
                  << result.checksum << std::endl;

    JobReport report = report_of("diffusion", crew.workers());
    report.parameters["size"] = static_cast<std::int64_t>(problem.size);
    report.parameters["steps"] = static_cast<std::int64_t>(problem.steps);
    if (problem.method != Problem().method) report.parameters["method"] = name(problem.method);
    split.add_to(report);
    const auto inner = static_cast<double>(problem.inner());
    report.work = inner * inner * static_cast<double>(problem.steps) / 1e6;
    report.rate_unit = "Mpoint/s";
    return conclude(crew, report, runs, result.wrong_points == 0);
}

/// measure_with the method that the task names.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    return task.problem.method == Method::direct ? measure_with<Direct<C>>(crew, task, SplitChoice::rows_alone())
                                                 : measure_with<Jacobi<C>>(crew, task, task.split);
}

} // namespace kumiki::kernels::diffusion
