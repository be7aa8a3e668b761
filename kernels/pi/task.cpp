#include "kernels/pi/task.hpp"

#include <CLI/CLI.hpp>
#include <iomanip>
#include <limits>
#include <map>
#include <numbers>
#include <string>

namespace kumiki::kernels::pi {
namespace {

void add_options(CLI::App& program, Task& task) {
    std::map<std::string, Method> methods;
    for (const Method method : {Method::monte_carlo, Method::integration}) methods[name(method)] = method;
    program.add_option("--method", task.problem.method, "monte-carlo or integration (the midpoint rule)")
        ->transform(CLI::CheckedTransformer(methods).description(""))
        ->default_str(name(task.problem.method));
    program.add_option("--count", task.problem.count, "how many trials, or intervals")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
        ->capture_default_str();
    program.add_option("--seed", task.problem.seed, "of monte-carlo: the same seed, the same points")
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
        ->capture_default_str();
    task.budget.add_to(program);
}

} // namespace

Task parse_task(int argc, char** argv) {
    Task task;
    CLI::App program("Pi by random points or by integration", "pi");
    task.choice.add_to(program);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

Task parse_mpi_task(const char* name, int argc, char** argv) {
    Task task;
    CLI::App program("Pi by random points or by integration, plain MPI", name);
    add_options(program, task);
    measure::parse_or_exit(program, argc, argv);
    return task;
}

void print_result(std::ostream& out, const Problem& problem, std::uint64_t tally) {
    const double estimate = problem.estimate(tally);
    out << "pi = " << std::setprecision(17) << estimate << ", error " << std::setprecision(2)
        << estimate - std::numbers::pi << ", at most " << problem.tolerance() << " allowed; tally " << tally
        << std::endl;
}

} // namespace kumiki::kernels::pi
