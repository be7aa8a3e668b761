#include "kernels/diffusion/task.hpp"

#include <map>

#include "kernels/common/command_line.hpp"

namespace kumiki::kernels::diffusion {

Task parse_task(const char* name, StartedBy by, int argc, char** argv) {
    const auto add_options = [](CLI::App& program, Task& task) {
        program.add_option("--size", task.problem.size, "points along an edge of the square, boundary included")
            ->check(CLI::Range(3, 1 << 15))
            ->capture_default_str();
        program.add_option("--steps", task.problem.steps, "time steps of one run")
            ->check(CLI::Range(Problem::fewest_steps, std::size_t{1} << 20))
            ->capture_default_str();
        std::map<std::string, Method> methods;
        for (const Method method : {Method::direct, Method::jacobi}) methods[diffusion::name(method)] = method;
        program
            .add_option("--method", task.problem.method,
                        "how lines are solved: direct (elimination) or jacobi (iterations, the paper's; a run "
                        "takes some 1.2 --size^2 of them, minutes with the default)")
            ->transform(CLI::CheckedTransformer(methods).description(""))
            ->default_str(diffusion::name(task.problem.method));
        task.split.add_to(program);
        program.callback([&task] {
            if (task.split.split == Split::tiles && task.problem.method == Method::direct)
                throw CLI::ValidationError("--split", "tiles goes with --method jacobi: elimination needs whole lines");
        });
    };
    return read_task<Task>(name, "Diffusion on a square by alternating directions", by, add_options, argc, argv);
}

std::string iterations_text(const Problem& problem) {
    return problem.method == Method::direct ? "" : std::to_string(problem.iterations()) + " iterations a half step; ";
}

} // namespace kumiki::kernels::diffusion
