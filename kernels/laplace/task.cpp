#include "kernels/laplace/task.hpp"

#include <map>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::laplace {
namespace {

void add_options(CLI::App& program, Task& task, StartedBy by) {
    program.add_option("--size", task.problem.size, "rows and columns of the grid inside its boundary")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    program.add_option("--iterations", task.problem.iterations, "Jacobi steps of one run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    program.add_flag("--overlap", task.overlap,
                     "compute the edges first and let them travel while the inside is computed");
    add_hidden(program, task.hidden, by == StartedBy::itself ? &task.choice.form : nullptr);
    if (by == StartedBy::mpi) return;
    const std::map<std::string, Communication> names{{"master", Communication::master}, {"edge", Communication::edge}};
    program
        .add_option("--communication", task.communication,
                    "hybrid: threads of a rank that exchange rows with other ranks: master, or edge (those whose rows "
                    "they are)")
        ->transform(CLI::CheckedTransformer(names).description(""))
        ->default_str("master");
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(
        name, "Laplace's equation by Jacobi's method, 5-point stencil, double precision", by,
        [by](CLI::App& program, Task& task) { add_options(program, task, by); }, argc, argv);
}

JobReport report_of(const Task& task, const Workers& workers) {
    const Problem& problem = task.problem;
    JobReport report = kernels::report_of("laplace", workers);
    report.parameters["size"] = static_cast<std::int64_t>(problem.size);
    report.parameters["iterations"] = static_cast<std::int64_t>(problem.iterations);
    // Deviations from the default must be recorded, or rows of different programs would look alike.
    if (task.choice.all_threads) report.parameters["all_threads"] = "yes";
    if (task.overlap) report.parameters["overlap"] = "yes";
    if (task.communication == Communication::edge) report.parameters["communication"] = "edge";
    report.work = problem.cells() * static_cast<double>(problem.iterations) * 1e-6;
    report.rate_unit = "Mcell/s";
    return report;
}

} // namespace kumiki::kernels::laplace
