#include "kernels/crews/forms.hpp"
#include "kernels/diffusion/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "diffusion";
    const auto task = diffusion::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return diffusion::measure_on(crew, task); }); });
}
