#include "kernels/radix-sort/task.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <thread>

#include "measure/program.hpp"

namespace kumiki::kernels::radix_sort {
namespace {

void add_options(CLI::App& program, Task& task) {
    std::map<std::string, Distribution> distributions;
    for (const Distribution distribution : all_distributions) distributions[name(distribution)] = distribution;
    std::map<std::string, Kernel> kernels;
    for (const Kernel kernel : {Kernel::plain, Kernel::vector}) kernels[name(kernel)] = kernel;
    task.kernel = has_vector_kernel() ? Kernel::vector : Kernel::plain;
    program.add_option("--keys", task.keys, "how many 32-bit keys to sort")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
        ->capture_default_str();
    program.add_option("--distribution", task.distribution, "of the keys: uniform, gaussian-like, equal, sorted")
        ->transform(CLI::CheckedTransformer(distributions).description(""))
        ->default_str(name(task.distribution));
    program
        .add_option("--kernel", task.kernel, "what a thread sorts with: vector (Highway) or plain (our own radix sort)")
        ->transform(CLI::CheckedTransformer(kernels).description(""))
        ->default_str(name(task.kernel));
    program.add_flag("--messages", task.messages, "hybrid, MPI: also a row for what each rank sends to another");
    task.budget.add_to(program);
}

} // namespace

int Task::threads_or_all_cores() const {
    return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Task parse_task(int argc, char** argv) {
    Task task;
    CLI::App program("Sorts 32-bit integers by their digits; prints one row of JSON per figure.", "radix-sort");
    program
        .add_option("--form", task.form,
                    "sequential, openmp, hybrid (ranks x threads) or library (the best library sorts)")
        ->capture_default_str()
        ->check(CLI::IsMember({"sequential", "openmp", "hybrid", "library"}));
    program
        .add_option("--threads", task.threads,
                    "threads of the forms openmp and library; 0: one per core. hybrid: kumiki-run -t")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    program.add_flag("--all-threads", task.all_threads,
                     "hybrid: compute with all threads even where the job has more of them than the host has cores");
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

Task parse_mpi_task(const char* name, int argc, char** argv) {
    Task task;
    task.form = "mpi";
    CLI::App program("Sorts 32-bit integers by their digits over MPI; prints one row of JSON per figure.", name);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

JobReport report_of(const Task& task, const std::string& implementation, int ranks, int threads) {
    JobReport report{.program = "radix_sort",
                     .implementation = implementation,
                     .parameters = {{"form", task.form},
                                    {"kernel", name(task.kernel)},
                                    {"ranks", std::int64_t{ranks}},
                                    {"threads", std::int64_t{threads}},
                                    {"keys", static_cast<std::int64_t>(task.keys)}},
                     .work = static_cast<double>(task.keys) / 1e6,
                     .rate_unit = "Mkeys/s",
                     .oversubscribed = exceeds_cores(ranks * threads)};
    // Uniform keys are the paper's case and go without saying.
    if (task.distribution != Distribution::uniform) report.parameters["distribution"] = name(task.distribution);
    return report;
}

int conclude(const Task& task, JobReport report, const Outcome& outcome) {
    report.validated = outcome.valid;
    print(std::cout, report, outcome.runs);
    for (const measure::Row& row : message_rows(report, outcome.messages, task.messages))
        measure::print(std::cout, row);
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace kumiki::kernels::radix_sort
