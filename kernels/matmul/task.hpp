#pragma once

#include "kernels/common/task.hpp"
#include "kernels/matmul/product.hpp"

namespace kumiki::kernels::matmul {

/// The options of the command line.
struct Task {
    std::size_t size = 1800;
    std::size_t panel = 0; ///< largest depth of a panel; 0: as deep as the owners' blocks
    Fetch fetch = Fetch::in_place;
    /// The MPI programs ignore it.
    FormChoice choice{
        .own_forms = {{"library", "the BLAS library's own threads"}, {"bound", "the same, reported as bound.dgemm"}}};
    measure::Budget budget;
};

/// Reads the command line of the program of that name; ends the process on --help or wrong usage.
Task parse_task(const char* name, StartedBy by, int argc, char** argv);

/// The report of a task, without a verdict.
JobReport report_of(const Task& task, const Workers& workers);

/// Measures the task on a crew, checks the last run, and lets rank 0 print the rows; returns the exit code.
template <Crew C>
int measure_on(C& crew, const Task& task) {
    Product<C> product(crew, task.size, task.panel, task.fetch);
    const auto runs = sample_crew(crew, task.budget, [&] { return product.run(); });
    JobReport report = report_of(task, crew.workers());
    if (product.gets()) report.parameters["fetch"] = task.fetch == Fetch::before ? "before" : "get";
    return conclude(crew, report, runs, product.right());
}

} // namespace kumiki::kernels::matmul
