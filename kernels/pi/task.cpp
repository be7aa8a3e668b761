#include "kernels/pi/task.hpp"

#include <iomanip>
#include <limits>
#include <map>
#include <numbers>
#include <string>

#include "kernels/common/command_line.hpp"

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
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(name, "Pi by random points or by integration", by, add_options, argc, argv);
}

void print_result(std::ostream& out, const Problem& problem, std::uint64_t tally) {
    const double estimate = problem.estimate(tally);
    out << "pi = " << std::setprecision(17) << estimate << ", error " << std::setprecision(2)
        << estimate - std::numbers::pi << ", at most " << problem.tolerance() << " allowed; tally " << tally
        << std::endl;
}

} // namespace kumiki::kernels::pi
