#pragma once

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kernels/crews/crew.hpp"
#include "kernels/streams/lane.hpp"

namespace kumiki::kernels::streams {

/// The options of the command line: the program that is bounded, and the bytes that it must move for some of its work.
struct Task {
    std::string of = "streams"; ///< the first part of the row's metric: "laplace"
    std::map<std::string, std::variant<std::int64_t, std::string>> parameters; ///< of the problem, for the row
    Traffic traffic;
    double work = 0;  ///< the work of the program for these bytes, in units of its rate
    std::string unit; ///< of its rate
    int threads = 1;
    measure::Budget budget;
};

/// Reads the command line; ends the process on --help or wrong usage.
Task parse_task(const char* name, int argc, char** argv);

/// A sample consists of as many passes as take this long, because most single passes are too short for the clock.
inline constexpr double least_seconds = 0.01;

/// Measures how fast the workers of a crew of one process move the bytes of the task, and prints the row; returns the
/// exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    using Worker = typename C::Worker;
    const auto workers = static_cast<std::size_t>(crew.size());
    std::vector<std::unique_ptr<Lane>> lanes;
    for (std::size_t i = 0; i < workers; ++i) lanes.push_back(std::make_unique<Lane>(task.traffic, workers, i));
    const auto lane = [&](const Worker& worker) -> Lane& { return *lanes[static_cast<std::size_t>(worker.index())]; };
    crew.run([&](Worker& worker) { lane(worker).fill(); });
    std::size_t passes = 1;
    // Workers do not wait for each other between passes, because nothing that they do depends on another worker.
    const auto run = [&] {
        return crew.run([&](Worker& worker) {
            for (std::size_t pass = 0; pass < passes; ++pass) lane(worker).pass();
        });
    };
    while (run().total() < least_seconds) passes *= 2;
    const auto runs = sample_crew(crew, task.budget, run);

    std::uint64_t wrong = 0;
    crew.run([&](Worker& worker) {
        const std::uint64_t found = worker.sum(std::uint64_t{!lane(worker).right()});
        if (worker.local() == 0) wrong = found;
    });
    JobReport report = report_of(task.of, crew.workers());
    report.parameters["form"] = "bound";
    report.parameters.insert(task.parameters.begin(), task.parameters.end());
    report.implementation = "bound";
    report.validated = wrong == 0;
    OwnFigure bound{"bound", task.unit, measure::Better::higher, {}};
    for (const RunTimes& each : runs) bound.samples.push_back(task.work * static_cast<double>(passes) / each.total());
    measure::print(std::cout, detail::row(report, bound));
    return report.validated ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::streams
