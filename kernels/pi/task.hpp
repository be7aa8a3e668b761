#pragma once

#include "kernels/common/task.hpp"
#include "kernels/crews/crew.hpp"
#include "kernels/pi/problem.hpp"

namespace kumiki::kernels::pi {

using Task = ProblemTask<Problem>;

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// A remark with all digits, which is not part of the rows: every form must print the same.
void print_result(std::ostream& out, const Problem& problem, std::uint64_t tally);

/// Measures the task on a crew, checks every run, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    const Problem& problem = task.problem;
    std::uint64_t tally = 0;
    bool valid = true;
    const auto run = [&] {
        const RunTimes times = crew.run([&](auto& worker) {
            const std::uint64_t own = problem.tally(share(problem.pieces(), static_cast<std::size_t>(crew.size()),
                                                          static_cast<std::size_t>(worker.index())));
            worker.enter(Phase::synchronisation);
            const std::uint64_t all = worker.sum(own);
            if (worker.local() == 0) tally = all;
        });
        valid &= problem.verifies(tally);
        return times;
    };
    const auto runs = sample_crew(crew, task.budget, run);
    if (crew.rank() == 0) print_result(std::clog, problem, tally);

    JobReport report = report_of("pi", crew.workers());
    report.parameters["method"] = name(problem.method);
    report.parameters["count"] = static_cast<std::int64_t>(problem.count);
    if (problem.seed != Problem().seed) report.parameters["seed"] = static_cast<std::int64_t>(problem.seed);
    report.work = static_cast<double>(problem.count) / 1e6;
    report.rate_unit = "M/s";
    return conclude(crew, report, runs, valid);
}

} // namespace kumiki::kernels::pi
