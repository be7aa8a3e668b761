#pragma once

#include "kernels/common/command_line.hpp"
#include "kernels/himeno/reference.hpp"

namespace kumiki::kernels::himeno {

/// What the command line asks for.
struct Task {
    Problem problem = problems.front();
    std::size_t sweeps = 20;
    SplitChoice split{Split::rows, "planes", "pencils"};
    FormChoice choice; ///< of no meaning in the MPI programs
    measure::Budget budget;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// Measures the task on a crew, checks what it computed, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Solver<C> solver(crew, task.problem, task.split);
    const auto runs = sample_crew(crew, task.budget, [&] { return solver.run(task.sweeps); });

    // What the last sample left is checked, unless the sequential run would take too long for it.
    const std::size_t sweeps = checked_sweeps(task.problem, task.sweeps);
    if (sweeps != task.sweeps) solver.run(sweeps);
    const Result result = solver.result();
    bool valid = false;
    if (crew.rank() == 0) {
        const Reference reference = compute_reference(task.problem, sweeps);
        valid = reference.plausible && agrees(result, reference);
    }

    JobReport report = report_of("himeno", crew.workers());
    report.parameters["size"] = std::string(task.problem.name);
    report.parameters["sweeps"] = static_cast<std::int64_t>(task.sweeps);
    task.split.add_to(report);
    report.work = task.problem.points() * Problem::operations_a_point * static_cast<double>(task.sweeps) / 1e6;
    report.rate_unit = "MFLOPS";
    return conclude(crew, report, runs, valid);
}

} // namespace kumiki::kernels::himeno
