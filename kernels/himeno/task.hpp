#pragma once

#include "kernels/common/task.hpp"
#include "kernels/himeno/reference.hpp"

namespace kumiki::kernels::himeno {

/// The options of the command line.
struct Task {
    Problem problem = problems.front();
    std::size_t sweeps = 20;
    SplitChoice split{Split::rows, "planes", "pencils"};
    FormChoice choice;     ///< ignored by the MPI programs
    bool sendrecv = false; ///< only in the MPI programs: exchange edges only by MPI_Sendrecv
    measure::Budget budget;

    /// Operations of one run, in millions.
    double work() const { return problem.points() * Problem::operations_a_point * static_cast<double>(sweeps) / 1e6; }
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// The report of a task on a crew, without a verdict.
template <Crew C>
JobReport report_on(C& crew, const Task& task) {
    JobReport report = report_of("himeno", crew.workers());
    report.parameters["size"] = std::string(task.problem.name);
    report.parameters["sweeps"] = static_cast<std::int64_t>(task.sweeps);
    task.split.add_to(report);
    report.work = task.work();
    report.rate_unit = "MFLOPS";
    return report;
}

/// The results of runs on a crew besides their times: gosa, and, if the crew counts its messages, their number and the
/// bytes of one, over all processes.
template <Crew C>
class Leavings {
public:
    /// Adds the figures of a run. Collective.
    void take(C& crew, double gosa) {
        gosa_.samples.push_back(gosa);
        if constexpr (requires { crew.traffic(); }) {
            const auto [messages, bytes] = crew.traffic();
            const auto more = static_cast<double>(messages - messages_),
                       more_bytes = static_cast<double>(bytes - bytes_);
            if (more > 0) message_.samples.push_back(more_bytes / more);
            if (more > 0) count_.samples.push_back(more);
            messages_ = messages;
            bytes_ = bytes;
        }
    }
    /// The figures without those of the first run, the warm-up.
    std::vector<OwnFigure> figures() const {
        std::vector<OwnFigure> found;
        for (const OwnFigure& each : {gosa_, message_, count_})
            if (!each.samples.empty()) found.push_back(each);
        for (OwnFigure& each : found) each.samples.erase(each.samples.begin());
        return found;
    }

private:
    OwnFigure gosa_{"gosa", "1", measure::Better::lower, {}};
    OwnFigure message_{"message", "B", measure::Better::lower, {}}, count_{"messages", "1", measure::Better::lower, {}};
    std::uint64_t messages_ = 0, bytes_ = 0; ///< so far
};

/// Measures the task on a crew, checks what it computed, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Solver<C> solver(crew, task.problem, task.split);
    Leavings<C> leavings;
    const auto runs = sample_crew(crew, task.budget, [&] {
        const RunTimes times = solver.run(task.sweeps);
        leavings.take(crew, solver.gosa());
        return times;
    });
    JobReport report = report_on(crew, task);
    report.own_figures = leavings.figures();

    // The result of the last sample is checked, unless the sequential run would take too long for it.
    const std::size_t sweeps = checked_sweeps(task.problem, task.sweeps);
    if (sweeps != task.sweeps) solver.run(sweeps);
    const Result result = solver.result();
    bool valid = false;
    if (crew.rank() == 0) {
        const Reference reference = compute_reference(task.problem, sweeps);
        valid = reference.plausible && agrees(result, reference);
    }
    return conclude(crew, report, runs, valid);
}

} // namespace kumiki::kernels::himeno
