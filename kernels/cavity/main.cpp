#include "kernels/crews/forms.hpp"
#include "kernels/cavity/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "cavity";
    const auto task = cavity::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return cavity::measure_on(crew, task); }); });
}
