#include "kernels/laplace-sor/task.hpp"

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::laplace_sor {

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    const auto add_options = [](CLI::App& program, Task& task) {
        program.add_option("--size", task.problem.size, "points along an edge of the square, boundary included")
            ->check(CLI::Range(3, 1 << 15))
            ->capture_default_str();
        task.split.add_to(program);
    };
    return read_task<Task>(name, "Laplace's equation by red-black over-relaxation", by, add_options, argc, argv);
}

} // namespace kumiki::kernels::laplace_sor
