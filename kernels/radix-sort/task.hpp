#pragma once

#include <iostream>
#include <vector>

#include "kernels/common/task.hpp"
#include "kernels/radix-sort/sorter.hpp"

namespace kumiki::kernels::radix_sort {

/// The options of the command line.
struct Task {
    std::uint64_t keys = std::uint64_t{4} << 20;
    Distribution distribution = Distribution::uniform;
    Kernel kernel = Kernel::vector;
    bool messages = false; ///< in the forms with ranks: also report how much each rank sends
    /// The MPI programs ignore it.
    FormChoice choice{.own_forms = {{"library", "the best library sorts"}}};
    measure::Budget budget;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// The report of a task, without a verdict.
JobReport report_of(const Task& task, const Workers& workers);

/// Measures the task on a crew, checks every run, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Sorter<C> sorter(crew, task.kernel, task.distribution, task.keys);
    bool valid = true;
    std::vector<MessageSizes> messages;
    const auto runs = sample_crew(crew, task.budget, [&] {
        const RunTimes times = sorter.run();
        valid &= sorter.verified();
        messages.push_back(sorter.messages());
        return times;
    });
    messages.erase(messages.begin()); // of the warm-up
    JobReport report = report_of(task, crew.workers());
    const int code = conclude(crew, report, runs, valid);
    report.validated = code == measure::success;
    if (crew.rank() == 0)
        for (const measure::Row& row : message_rows(report, messages, task.messages)) measure::print(std::cout, row);
    return code;
}

} // namespace kumiki::kernels::radix_sort
