#include "kernels/crews/forms.hpp"
#include "kernels/laplace-sor/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "laplace-sor";
    const auto task = laplace_sor::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return laplace_sor::measure_on(crew, task); }); });
}
