#include "kernels/cg/task.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "kernels/common/hidden.hpp"
#include "measure/program.hpp"

namespace kumiki::kernels::cg {
namespace {

void add_options(CLI::App& program, Task& task) {
    std::vector<std::string> names;
    for (const Problem& problem : problems) names.emplace_back(problem.name);
    const auto choose = [&task](const std::string& name) {
        task.problem = *std::ranges::find(problems, name, &Problem::name);
    };
    program.add_option_function<std::string>("--class", choose, "S, W, A or B: the benchmark's problem sizes")
        ->check(CLI::IsMember(names))
        ->default_str("A");
    task.problem = *std::ranges::find(problems, "A", &Problem::name);
    task.budget.add_to(program);
}

} // namespace

Task parse_task(int argc, char** argv) {
    Task task;
    CLI::App program("The conjugate gradient kernel of the NAS parallel benchmarks; prints one row of JSON per figure.",
                     "cg");
    program.add_option("--form", task.form, "sequential, openmp, hybrid (ranks x threads) or message (ranks)")
        ->capture_default_str()
        ->check(CLI::IsMember({"sequential", "openmp", "hybrid", "message"}));
    program.add_option("--threads", task.threads, "threads of the form openmp; 0: one per core. hybrid: kumiki-run -t")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    program.add_flag("--all-threads", task.all_threads,
                     "hybrid: compute with all threads even where the job has more of them than the host has cores");
    add_hidden(program, task.hidden, &task.form);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

Task parse_mpi_task(const char* name, int argc, char** argv) {
    Task task;
    task.form = "mpi";
    CLI::App program(
        "The conjugate gradient kernel of the NAS parallel benchmarks over MPI; prints one row of JSON per figure.",
        name);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

JobReport report_of(const Task& task, const std::string& implementation, int ranks, int threads) {
    return {.program = "cg",
            .implementation = implementation,
            .parameters = {{"form", task.form},
                           {"class", std::string(task.problem.name)},
                           {"ranks", std::int64_t{ranks}},
                           {"threads", std::int64_t{threads}}},
            .work = task.problem.operations() / 1e6,
            .rate_unit = "Mop/s",
            .oversubscribed = exceeds_cores(ranks * threads),
            .own_parts = {"product", "vectors", "exchange", "sums"}};
}

int conclude(JobReport report, const Outcome& outcome) {
    report.validated = outcome.valid;
    print(std::cout, report, outcome.runs);
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::cg
