#include "kernels/matmul/task.hpp"

#include <map>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::matmul {
namespace {

void add_options(CLI::App& program, Task& task, StartedBy by) {
    program.add_option("--size", task.size, "rows and columns of the matrices")
        ->check(CLI::Range(std::size_t{1}, largest_size))
        ->capture_default_str();
    program
        .add_option("--panel", task.panel,
                    "greatest depth of the panels that travel between ranks; 0: as deep as a rank's block")
        ->capture_default_str();
    if (by == StartedBy::mpi) return;
    const std::map<std::string, Fetch> names{
        {"in-place", Fetch::in_place}, {"get", Fetch::get}, {"before", Fetch::before}};
    program
        .add_option("--fetch", task.fetch,
                    "hybrid: in-place (read the other ranks' panels where they lie), get (copy them, overlapped), or "
                    "before (copy them while the rank's other threads wait)")
        ->transform(CLI::CheckedTransformer(names).description(""))
        ->default_str("in-place");
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(
        name, "Matrix product C = A x B in double precision", by,
        [by](CLI::App& program, Task& task) { add_options(program, task, by); }, argc, argv);
}

JobReport report_of(const Task& task, const Workers& workers) {
    JobReport report = kernels::report_of("matmul", workers);
    report.parameters["size"] = static_cast<std::int64_t>(task.size);
    // Deviations from the default must be recorded, or rows of different programs would look alike.
    if (task.choice.all_threads) report.parameters["all_threads"] = "yes";
    if (task.panel != 0) report.parameters["panel"] = static_cast<std::int64_t>(task.panel);
    if (report.note.empty()) report.note = blas_note();
    const auto size = static_cast<double>(task.size);
    report.work = 2e-9 * size * size * size;
    report.rate_unit = "GFLOP/s";
    return report;
}

} // namespace kumiki::kernels::matmul
