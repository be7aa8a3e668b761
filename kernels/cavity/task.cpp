#include "kernels/cavity/task.hpp"

#include <string>
#include <vector>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::cavity {

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    const auto add_options = [](CLI::App& program, Task& task) {
        const auto odd = [](const std::string& text) {
            return std::stoll(text) % 2 != 0
                       ? std::string()
                       : text + " is even: the lines in the middle need cells on both sides alike";
        };
        program.add_option("--size", task.problem.size, "points along an edge of the square, boundary included; odd")
            ->check(CLI::Range(Problem::smallest, std::size_t{1025}))
            ->check(odd)
            ->capture_default_str();
        program
            .add_option("--steady", task.problem.steady,
                        "the flow is steady where no velocity changes faster than this, in velocities of the lid per "
                        "time in which it moves one length")
            ->check(CLI::Range(1e-9, 0.1))
            ->capture_default_str();
        program
            .add_option("--reynolds", task.problem.reynolds, "the Reynolds number, of those with published velocities")
            ->check(CLI::IsMember(std::vector<int>(published_reynolds.begin(), published_reynolds.end())))
            ->capture_default_str();
        program.add_flag(
            "--velocities", task.velocities,
            "print the velocities on the lines through the middle beside the published ones, and no times");
        task.split.add_to(program);
    };
    return read_task<Task>(name, "Flow in a cavity under a moving lid by the MAC method", by, add_options, argc, argv);
}

} // namespace kumiki::kernels::cavity
