#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
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

// How the kernels report a measured job. It uses no header of Kumiki, because the MPI and OpenMP forms use it, too.

namespace kumiki::kernels {

/// The pages of shared arrays that moved in one run, over all ranks.
struct PagesMoved {
    double transfers = 0;   ///< fetched from their homes
    double differences = 0; ///< changed elsewhere, so that the changes were brought to their homes
};

/// The times of one run in seconds: those measured on one rank, or those of the job, each of which is the largest over
/// the ranks. The figures are in one array, so that one reduction by maximum makes the job's figures from the ranks'.
struct RunTimes {
    static constexpr std::size_t most_own_parts = 4;
    std::array<double, 1 + phase_count + most_own_parts> figures{};
    PagesMoved pages; ///< in the form `shared`

    RunTimes() = default;
    RunTimes(double total, const Phases& phases)
        : figures{total, phases.seconds(Phase::computation), phases.seconds(Phase::communication),
                  phases.seconds(Phase::synchronisation)} {}
    /// Also contains the parts that the program distinguishes besides the phases, in the order of JobReport::own_parts.
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

/// A negligible difference in a part of a run's time, in seconds: one hundredth of the whole, because parts are read as
/// shares.
inline double resolution_of_parts(std::span<const RunTimes> runs) {
    return measure::median_interval(measure::figures_of(runs, [](const RunTimes& run) { return run.total(); })).median /
           100;
}

/// Whether all reported figures of these runs have settled: the time, the rate, which is proportional to its inverse,
/// and the parts.
inline bool all_settled(std::span<const RunTimes> runs) {
    const auto is_settled = [runs](auto figure, double resolution) {
        return measure::settled(measure::figures_of(runs, figure), resolution);
    };
    if (!is_settled([](const RunTimes& run) { return run.total(); }, 0)) return false;
    if (!is_settled([](const RunTimes& run) { return 1 / run.total(); }, 0)) return false;
    const double resolution = resolution_of_parts(runs);
    for (std::size_t part = 1; part < std::tuple_size_v<decltype(RunTimes::figures)>; ++part)
        if (!is_settled([part](const RunTimes& run) { return run.figures[part]; }, resolution)) return false;
    return true;
}

/// Calls run() -> RunTimes (of the job) once to warm up, and then until all its figures have settled or the budget is
/// spent; agree(bool) -> bool passes rank 0's decision to all ranks. The warm-up run is left out.
template <class Run, class Agree>
std::vector<RunTimes> sample_runs(const measure::Budget& budget, Run run, Agree agree) {
    return measure::sample_until(budget, run, all_settled, agree);
}

/// The same for a program of one process.
template <class Run>
std::vector<RunTimes> sample_runs(const measure::Budget& budget, Run run) {
    return sample_runs(budget, run, [](bool more) { return more; });
}

/// The shared arrays of a job in the form `shared`.
struct PagesUsed {
    std::string homes;     ///< how pages were dealt to homes
    std::string protocol;  ///< what barriers did with copies of changed pages
    std::string copies;    ///< what has a copy of its own of each page: "rank", or "host" if ranks share one memory
    std::string mechanism; ///< how accesses to absent pages are detected
    std::size_t page_bytes = 0;
    double homes_different = 0; ///< percent of the pages whose home is not the rank that works on them
};

/// How a kernel was run: the form, the ranks and the threads.
struct Workers {
    std::string implementation; ///< "kumiki", "openmpi", "openmp", ...
    std::string form;
    int ranks = 1;
    int threads = 1; ///< of each rank
    bool oversubscribed = false;
    int working = 0; ///< the number of threads of each rank that compute, if some do not; 0: all compute
    std::optional<PagesUsed> pages = {};
};

/// A figure of a job that is not a time: a count, or a result of the computation.
struct OwnFigure {
    std::string name; ///< second part of the metric
    std::string unit; ///< "1": none
    measure::Better better = measure::Better::lower;
    std::vector<double> samples; ///< in the order of the runs
};

/// A remark for the reader of a row if fewer threads work than were requested; empty if all do.
inline std::string note_on_threads(int asked, int working) {
    if (working == asked) return {};
    return "more threads than cores: each rank computes with " + std::to_string(working) + " of its " +
           std::to_string(asked) + " threads";
}

/// The common part of a job's rows.
struct JobReport {
    std::string program;        ///< first part of the metrics: "laplace", "radix_sort"
    std::string implementation; ///< "kumiki", "openmpi", "openmp", ...
    std::map<std::string, std::variant<std::int64_t, std::string>> parameters;
    double work = 0;       ///< units of the rate done by one run: with the unit "GFLOP/s", 1e9 operations
    std::string rate_unit; ///< "GFLOP/s", "Mcell/s", ...
    bool validated = false;
    bool oversubscribed = false;
    std::string note = {};
    std::vector<const char*> own_parts = {}; ///< names of the parts that the program distinguishes besides the phases
    std::vector<OwnFigure> own_figures = {};
    std::optional<double> homes_different = {}; ///< percent, in the form `shared`
};

/// Records how many of its threads each rank uses, in the note and, if not all, as the parameter `working`.
inline void tell_working(JobReport& report, int asked, int working) {
    report.note = note_on_threads(asked, working);
    if (working != asked) report.parameters["working"] = working;
}

/// The beginning of a report: program and workers, with `form`, `ranks` and `threads` among the parameters.
inline JobReport report_of(std::string program, const Workers& workers) {
    JobReport report;
    report.program = std::move(program);
    report.implementation = workers.implementation;
    report.parameters = {{"form", workers.form}, {"ranks", workers.ranks}, {"threads", workers.threads}};
    report.oversubscribed = workers.oversubscribed;
    if (workers.working != 0) tell_working(report, workers.threads, workers.working);
    if (const auto& pages = workers.pages) {
        report.parameters["homes"] = pages->homes;
        report.parameters["protocol"] = pages->protocol;
        report.parameters["copies"] = pages->copies;
        report.parameters["mechanism"] = pages->mechanism;
        report.parameters["page"] = static_cast<std::int64_t>(pages->page_bytes);
        report.homes_different = pages->homes_different;
    }
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
    return row(report, OwnFigure{figure, std::move(unit), better, measure::figures_of(runs, value)});
}

/// The two statistics of the Omni/SCASH paper, how many pages were fetched in each run and how many have another home
/// than the rank that works on them; and in how many changes were brought home.
inline void add_page_rows(std::vector<measure::Row>& rows, JobReport report, std::span<const RunTimes> runs) {
    report.parameters["program"] = std::exchange(report.program, "page");
    rows.push_back(row(report, "transfers", "1", measure::Better::lower, runs,
                       [](const RunTimes& run) { return run.pages.transfers; }));
    rows.push_back(row(report, "differences", "1", measure::Better::lower, runs,
                       [](const RunTimes& run) { return run.pages.differences; }));
    report.program = "home";
    const double different = *report.homes_different;
    rows.push_back(row(report, "different", "%", measure::Better::lower, runs,
                       [different](const RunTimes&) { return different; }));
}

} // namespace detail

/// The rows `<program>.time`, `.rate`, `.computation`, `.communication` and `.synchronisation` of docs/rows.md, and
/// those of the program's own parts and figures.
inline std::vector<measure::Row> rows(const JobReport& report, std::span<const RunTimes> runs) {
    using measure::Better;
    const auto part = [&](const char* name, auto seconds) {
        auto made = detail::row(report, name, "s", Better::lower, runs, seconds);
        made.resolution = resolution_of_parts(runs);
        return made;
    };
    const auto phase = [](Phase wanted) { return [wanted](const RunTimes& run) { return run.of(wanted); }; };
    std::vector made{
        detail::row(report, "time", "s", Better::lower, runs, [](const RunTimes& run) { return run.total(); }),
        detail::row(report, "rate", report.rate_unit, Better::higher, runs,
                    [&](const RunTimes& run) { return report.work / run.total(); }),
        part("computation", phase(Phase::computation)), part("communication", phase(Phase::communication)),
        part("synchronisation", phase(Phase::synchronisation))};
    for (std::size_t own = 0; own < report.own_parts.size(); ++own)
        made.push_back(part(report.own_parts[own], [own](const RunTimes& run) { return run.of_own(own); }));
    for (const OwnFigure& figure : report.own_figures) made.push_back(detail::row(report, figure));
    if (report.homes_different) detail::add_page_rows(made, report, runs);
    return made;
}

/// Prints the rows; call it on one rank only.
inline void print(std::ostream& out, const JobReport& report, std::span<const RunTimes> runs) {
    for (const measure::Row& row : rows(report, runs)) measure::print(out, row);
}

/// Whether `workers` (processes x threads) exceed the cores of this host. The processor set of the calling process
/// cannot be used: mpirun binds each process to one core, so its set says nothing about the job's cores. `kumiki
/// evaluate` knows them, and replaces this estimate, which counts every processor of the host.
inline bool exceeds_cores(int workers) { return workers > static_cast<int>(std::thread::hardware_concurrency()); }

} // namespace kumiki::kernels
