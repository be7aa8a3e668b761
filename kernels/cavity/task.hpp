#pragma once

#include <fmt/format.h>

#include <iostream>

#include "kernels/common/command_line.hpp"
#include "kernels/cavity/solver.hpp"

namespace kumiki::kernels::cavity {

using Task = GridTask<Problem>;

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// Measures the task on a crew, checks the last run, and lets rank 0 print the rows; returns the exit code. A remark
/// beside the rows has the checksum, which must be the same for every number of workers.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    const Problem& problem = task.problem;
    Solver<C> solver(crew, problem, task.split);
    const auto runs = sample_crew(crew, task.budget, [&] { return solver.run(); });
    const Result result = solver.result();
    if (crew.rank() == 0)
        std::clog << result.steps << " steps; deviation " << result.deviation << ", at most " << problem.tolerance()
                  << " allowed; " << result.leaking_cells << " leaking cells; checksum " << result.checksum
                  << std::endl;

    JobReport report = report_of("cavity", crew.workers());
    report.parameters["size"] = static_cast<std::int64_t>(problem.size);
    if (problem.steady != Problem().steady) report.parameters["steady"] = fmt::format("{}", problem.steady);
    task.split.add_to(report);
    const auto cells = static_cast<double>(problem.cells());
    report.work = cells * cells * static_cast<double>(result.steps) / 1e6;
    report.rate_unit = "Mcell/s";
    return conclude(crew, report, runs, result.deviation <= problem.tolerance() && result.leaking_cells == 0);
}

} // namespace kumiki::kernels::cavity
