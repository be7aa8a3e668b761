#include "kernels/is/task.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::is {
namespace {

void add_options(CLI::App& program, Task& task) {
    std::vector<std::string> names;
    for (const Problem& problem : problems) names.emplace_back(problem.name);
    const auto choose = [&task](const std::string& name) {
        task.problem = *std::ranges::find(problems, name, &Problem::name);
    };
    choose("A");
    program.add_option_function<std::string>("--class", choose, "S, W, A or B: the benchmark's problem sizes")
        ->check(CLI::IsMember(names))
        ->default_str("A");
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(name, "The integer sort of the NAS parallel benchmarks", by, add_options, argc, argv);
}

} // namespace kumiki::kernels::is
