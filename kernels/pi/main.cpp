#include "kernels/common/forms.hpp"
#include "kernels/pi/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    const auto task = pi::parse_task(argc, argv);
    return kumiki::measure::guarded(
        "pi", [&] { return with_crew(task.choice, [&](auto& crew) { return pi::measure_on(crew, task); }); });
}
