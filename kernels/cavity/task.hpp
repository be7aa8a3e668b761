#pragma once

#include <fmt/format.h>

#include <iostream>

#include "kernels/common/task.hpp"
#include "kernels/cavity/solver.hpp"

namespace kumiki::kernels::cavity {

struct Task : GridTask<Problem> {
    bool velocities = false; ///< print them beside the published ones instead of times
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// The velocities at the end of each run, as rows: at each position beside the published one.
inline std::vector<measure::Row> velocity_rows(const JobReport& report,
                                               std::span<const std::vector<CentreVelocity>> runs) {
    std::vector<measure::Row> made;
    for (std::size_t i = 0; i < runs.front().size(); ++i) {
        const CentreVelocity& first = runs.front()[i];
        OwnFigure figure{"velocity", "1", measure::Better::higher, {}};
        for (const auto& run : runs) figure.samples.push_back(run[i].computed);
        measure::Row& row = made.emplace_back(detail::row(report, figure));
        row.parameters["component"] = std::string(1, first.component);
        row.parameters["place"] = fmt::format("{:.4f}", first.place);
        row.parameters["published"] = fmt::format("{:.5f}", first.published);
    }
    return made;
}

/// Measures the task on a crew, checks the last run, and lets rank 0 print the rows; returns the exit code. A remark
/// after the rows contains the checksum, which must be the same for every number of workers.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    const Problem& problem = task.problem;
    Solver<C> solver(crew, problem, task.split);
    std::vector<std::vector<CentreVelocity>> velocities;
    const auto runs = sample_crew(crew, task.budget, [&] {
        const RunTimes times = solver.run();
        if (task.velocities) velocities.push_back(solver.result().velocities);
        return times;
    });
    const Result result = solver.result();
    if (crew.rank() == 0)
        std::clog << result.steps << " steps; deviation " << result.deviation << ", at most " << problem.tolerance()
                  << " allowed; " << result.leaking_cells << " leaking cells; checksum " << result.checksum
                  << std::endl;

    JobReport report = report_of("cavity", crew.workers());
    report.parameters["size"] = static_cast<std::int64_t>(problem.size);
    if (problem.steady != Problem().steady) report.parameters["steady"] = fmt::format("{}", problem.steady);
    if (problem.reynolds != Problem().reynolds) report.parameters["reynolds"] = std::int64_t{problem.reynolds};
    task.split.add_to(report);
    const auto cells = static_cast<double>(problem.cells());
    report.work = cells * cells * static_cast<double>(result.steps) / 1e6;
    report.rate_unit = "Mcell/s";
    const bool valid = result.deviation <= problem.tolerance() && result.leaking_cells == 0;
    if (!task.velocities) return conclude(crew, report, runs, valid);

    report.validated = crew.agree(valid);
    if (crew.rank() == 0)
        for (const measure::Row& row :
             velocity_rows(report, std::span(velocities).subspan(1))) // not those of the warm-up
            measure::print(std::cout, row);
    return report.validated ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::cavity
