#include "kernels/cg/task.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::cg {
namespace {

void add_options(CLI::App& program, Task& task, StartedBy by) {
    std::vector<std::string> names;
    for (const Problem& problem : problems) names.emplace_back(problem.name);
    const auto choose = [&task](const std::string& name) {
        task.problem = *std::ranges::find(problems, name, &Problem::name);
    };
    choose("A");
    program.add_option_function<std::string>("--class", choose, "S, W, A or B: the benchmark's problem sizes")
        ->check(CLI::IsMember(names))
        ->default_str("A");
    if (by == StartedBy::itself) add_hidden(program, task.hidden, &task.choice.form);
}

} // namespace

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    return read_task<Task>(
        name, "The conjugate gradient kernel of the NAS parallel benchmarks", by,
        [by](CLI::App& program, Task& task) { add_options(program, task, by); }, argc, argv);
}

} // namespace kumiki::kernels::cg
