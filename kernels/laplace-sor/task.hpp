#pragma once

#include <iostream>

#include "kernels/common/task.hpp"
#include "kernels/laplace-sor/solver.hpp"

namespace kumiki::kernels::laplace_sor {

using Task = GridTask<Problem>;

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// Measures the task on a crew, checks the last run, and lets rank 0 print the rows; returns the exit code. A remark
/// after the rows contains the checksum, which must be the same for every number of workers.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    const Problem& problem = task.problem;
    Solver<C> solver(crew, problem, task.split);
    const auto runs = sample_crew(crew, task.budget, [&] { return solver.run(); });
    const Result result = solver.result();
    if (crew.rank() == 0)
        std::clog << result.sweeps << " sweeps; " << result.wrong_points << " wrong points; checksum "
                  << result.checksum << std::endl;

    JobReport report = report_of("laplace_sor", crew.workers());
    report.parameters["size"] = static_cast<std::int64_t>(problem.size);
    task.split.add_to(report);
    const auto inner = static_cast<double>(problem.inner());
    report.work = inner * inner * static_cast<double>(result.sweeps) / 1e6;
    report.rate_unit = "Mpoint/s";
    return conclude(crew, report, runs, result.wrong_points == 0);
}

} // namespace kumiki::kernels::laplace_sor
