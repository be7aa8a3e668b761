#include "kernels/cg/task.hpp"
#include "kernels/crews/forms.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "cg";
    const auto task = cg::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return cg::measure_on(crew, task); }); });
}
