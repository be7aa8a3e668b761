#pragma once

#include "kernels/common/task.hpp"
#include "kernels/is/sorter.hpp"

namespace kumiki::kernels::is {

/// The options of the command line.
struct Task {
    Problem problem = problems.front();
    FormChoice choice; ///< ignored by the MPI programs
    measure::Budget budget;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// Measures the task on a crew, checks every run, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Sorter<C> sorter(crew, task.problem);
    bool valid = true;
    const auto runs = sample_crew(crew, task.budget, [&] {
        const RunTimes times = sorter.run();
        valid &= sorter.verified();
        return times;
    });
    valid &= sorter.fully_verified();

    JobReport report = report_of("is", crew.workers());
    report.parameters["class"] = std::string(task.problem.name);
    report.work = static_cast<double>(task.problem.count()) * Problem::iterations / 1e6;
    report.rate_unit = "Mop/s";
    return conclude(crew, report, runs, valid);
}

} // namespace kumiki::kernels::is
