#include "kernels/diffusion/task.hpp"

namespace kumiki::kernels::diffusion {

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    const auto add_options = [](CLI::App& program, Task& task) {
        program.add_option("--size", task.problem.size, "points along an edge of the square, boundary included")
            ->check(CLI::Range(3, 1 << 15))
            ->capture_default_str();
        program.add_option("--steps", task.problem.steps, "time steps of one run")
            ->check(CLI::Range(Problem::fewest_steps, std::size_t{1} << 20))
            ->capture_default_str();
    };
    return read_task<Task>(name, "Diffusion on a square by alternating directions", by, add_options, argc, argv);
}

} // namespace kumiki::kernels::diffusion
