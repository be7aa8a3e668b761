#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/common/phases.hpp"
#include "measure/row.hpp"
#include "measure/sampling.hpp"

// How the kernels report a measured job. No Kumiki header here: the MPI and OpenMP forms report so too.

namespace kumiki::kernels {

/// The times of one run in seconds: of one rank as measured, or of the job once every figure is the largest over ranks.
/// The figures lie in one array, so that one reduction by maximum makes the job's out of the ranks'.
struct RunTimes {
    static constexpr std::size_t most_own_parts = 4;
    std::array<double, 1 + phase_count + most_own_parts> figures{};

    RunTimes() = default;
    RunTimes(double total, const Phases& phases)
        : figures{total, phases.seconds(Phase::computation), phases.seconds(Phase::communication),
                  phases.seconds(Phase::synchronisation)} {}
    /// With the parts that the program tells apart beside the phases, in the order of JobReport::own_parts.
    template <class Part, std::size_t count>
    RunTimes(double total, const Phases& phases, const Stopwatch<Part, count>& own) : RunTimes(total, phases) {
        static_assert(count <= most_own_parts);
        for (std::size_t part = 0; part < count; ++part)
            figures[1 + phase_count + part] = own.seconds(static_cast<Part>(part));
    }

    double total() const { return figures[0]; }
    double of(Phase phase) const { return figures[1 + static_cast<std::size_t>(phase)]; }
    double of_own(std::size_t part) const { return figures[1 + phase_count + part]; }
};

/// Calls run() -> RunTimes (of the job) once to warm up and then as often as the budget allows; agree(bool) -> bool
/// hands rank 0's decision to all ranks. The warm-up run is left out.
template <class Run, class Agree>
std::vector<RunTimes> sample_runs(const measure::Budget& budget, Run run, Agree agree) {
    std::vector<RunTimes> runs;
    const auto take = [&] { return runs.emplace_back(run()).total(); };
    measure::sample_together(budget, take, agree);
    runs.erase(runs.begin());
    return runs;
}

/// The same for a program of one process.
template <class Run>
std::vector<RunTimes> sample_runs(const measure::Budget& budget, Run run) {
    return sample_runs(budget, run, [](bool more) { return more; });
}

/// Who ran a kernel in which form, on how many ranks and threads.
struct Workers {
    std::string implementation; ///< "kumiki", "openmpi", "openmp", ...
    std::string form;
    int ranks = 1;
    int threads = 1; ///< of each rank
    bool oversubscribed = false;
    std::string note = {}; ///< what the reader of the rows should know, if anything
};

/// A figure of a job that is none of its times: counted, or left by what it computed.
struct OwnFigure {
    std::string name; ///< second part of the metric
    std::string unit; ///< "1": none
    measure::Better better = measure::Better::lower;
    std::vector<double> samples; ///< in the order of the runs
};

/// What the rows of a job have in common.
struct JobReport {
    std::string program;        ///< first part of the metrics: "laplace", "radix_sort"
    std::string implementation; ///< "kumiki", "openmpi", "openmp", ...
    std::map<std::string, std::variant<std::int64_t, std::string>> parameters;
    double work = 0;       ///< units of the rate done by one run: with the unit "GFLOP/s", 1e9 operations
    std::string rate_unit; ///< "GFLOP/s", "Mcell/s", ...
    bool validated = false;
    bool oversubscribed = false;
    std::string note = {};
    std::vector<const char*> own_parts = {}; ///< figures of the parts that the program tells apart beside the phases
    std::vector<OwnFigure> own_figures = {};
};

/// The beginning of a report: program and workers, with `form`, `ranks` and `threads` among the parameters.
inline JobReport report_of(std::string program, const Workers& workers) {
    JobReport report;
    report.program = std::move(program);
    report.implementation = workers.implementation;
    report.parameters = {{"form", workers.form}, {"ranks", workers.ranks}, {"threads", workers.threads}};
    report.oversubscribed = workers.oversubscribed;
    report.note = workers.note;
    return report;
}

namespace detail {

inline measure::Row row(const JobReport& report, const OwnFigure& figure) {
    return {report.program + "." + figure.name,
            report.implementation,
            report.parameters,
            figure.unit,
            figure.better,
            figure.samples,
            report.validated,
            report.oversubscribed,
            report.note};
}

template <class Figure>
measure::Row row(const JobReport& report, const char* figure, std::string unit, measure::Better better,
                 std::span<const RunTimes> runs, Figure value) {
    OwnFigure found{figure, std::move(unit), better, {}};
    found.samples.reserve(runs.size());
    for (const RunTimes& run : runs) found.samples.push_back(value(run));
    return row(report, found);
}

} // namespace detail

/// The rows `<program>.time`, `.rate`, `.computation`, `.communication` and `.synchronisation` of docs/rows.md, and
/// those of the program's own parts and figures.
inline std::vector<measure::Row> rows(const JobReport& report, std::span<const RunTimes> runs) {
    using measure::Better;
    const auto part = [&](const char* name, Phase phase) {
        return detail::row(report, name, "s", Better::lower, runs, [=](const RunTimes& run) { return run.of(phase); });
    };
    std::vector made{
        detail::row(report, "time", "s", Better::lower, runs, [](const RunTimes& run) { return run.total(); }),
        detail::row(report, "rate", report.rate_unit, Better::higher, runs,
                    [&](const RunTimes& run) { return report.work / run.total(); }),
        part("computation", Phase::computation), part("communication", Phase::communication),
        part("synchronisation", Phase::synchronisation)};
    for (std::size_t own = 0; own < report.own_parts.size(); ++own)
        made.push_back(detail::row(report, report.own_parts[own], "s", Better::lower, runs,
                                   [own](const RunTimes& run) { return run.of_own(own); }));
    for (const OwnFigure& figure : report.own_figures) made.push_back(detail::row(report, figure));
    return made;
}

/// Prints the rows; call it on one rank only.
inline void print(std::ostream& out, const JobReport& report, std::span<const RunTimes> runs) {
    for (const measure::Row& row : rows(report, runs)) measure::print(out, row);
}

/// Whether `workers` (processes x threads) exceed the cores of this host. The processor set of the calling process
/// would not do: mpirun binds each process to one core, and its set then says nothing of the job's.
inline bool exceeds_cores(int workers) { return workers > static_cast<int>(std::thread::hardware_concurrency()); }

} // namespace kumiki::kernels
