#include "kernels/radix-sort/task.hpp"

#include <map>

#include "kernels/common/command_line.hpp"

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
    program.add_flag("--messages", task.messages, "with several ranks: also a row for what each rank sends to another");
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(name, "Sorts 32-bit integers by their digits", by, add_options, argc, argv);
}

JobReport report_of(const Task& task, const Workers& workers) {
    JobReport report = kernels::report_of("radix_sort", workers);
    report.parameters["kernel"] = name(task.kernel);
    report.parameters["keys"] = static_cast<std::int64_t>(task.keys);
    // Uniform keys are the paper's case and are not recorded.
    if (task.distribution != Distribution::uniform) report.parameters["distribution"] = name(task.distribution);
    report.work = static_cast<double>(task.keys) / 1e6;
    report.rate_unit = "Mkeys/s";
    return report;
}

} // namespace kumiki::kernels::radix_sort
