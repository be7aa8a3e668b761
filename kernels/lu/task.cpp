#include "kernels/lu/task.hpp"

#include <map>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::lu {
namespace {

constexpr std::size_t largest_size = 1 << 14, largest_block = 256;

void add_options(CLI::App& program, Task& task) {
    program.add_option("--size", task.problem.size, "rows and columns of the matrix")
        ->check(CLI::Range(std::size_t{1}, largest_size))
        ->capture_default_str();
    program.add_option("--block", task.problem.block, "rows and columns of a block, a multiple of 8")
        ->check(CLI::Range(Problem::block_step, largest_block))
        ->check([](const std::string& text) {
            const bool fits = std::stoul(text) % Problem::block_step == 0;
            return fits ? std::string() : text + " is not a multiple of " + std::to_string(Problem::block_step);
        })
        ->capture_default_str();
    const std::map<std::string, Touch> names{{"owners", Touch::owners}, {"one", Touch::one}};
    program
        .add_option("--touch", task.touch,
                    "who writes the matrix before each factorisation: owners (each worker its blocks), or one (one "
                    "worker all blocks that it can access: in one process and in shared arrays all, else those of its "
                    "process)")
        ->transform(CLI::CheckedTransformer(names).description(""))
        ->default_str("owners");
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(name, "LU factorisation of a dense matrix of blocks, without pivoting, double precision", by,
                           add_options, argc, argv);
}

JobReport report_of(const Task& task, const Workers& workers) {
    JobReport report = kernels::report_of("lu", workers);
    report.parameters["size"] = static_cast<std::int64_t>(task.problem.size);
    report.parameters["block"] = static_cast<std::int64_t>(task.problem.block);
    // Deviations from the default must be recorded, or rows of different programs would look alike.
    if (task.touch == Touch::one) report.parameters["touch"] = "one";
    report.work = task.problem.operations() * 1e-9;
    report.rate_unit = "GFLOP/s";
    return report;
}

} // namespace kumiki::kernels::lu
