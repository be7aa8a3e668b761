#pragma once

#include <iostream>

#include "kernels/common/task.hpp"
#include "kernels/lu/solver.hpp"

namespace kumiki::kernels::lu {

/// The options of the command line.
struct Task : ProblemTask<Problem> {
    Touch touch = Touch::owners;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// The report of a task, without a verdict.
JobReport report_of(const Task& task, const Workers& workers);

/// Measures the task on a crew, checks the last run, and lets rank 0 print the rows; returns the exit code. A remark
/// after the rows contains the checksum, which must be the same for every number of workers.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Solver<C> solver(crew, task.problem, task.touch);
    const auto runs = sample_crew(crew, task.budget, [&] { return solver.run(); });
    const Result result = solver.result();
    if (crew.rank() == 0) std::clog << "residual " << result.residual << "; checksum " << result.checksum << std::endl;
    return conclude(crew, report_of(task, crew.workers()), runs, result.right());
}

} // namespace kumiki::kernels::lu
