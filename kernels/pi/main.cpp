#include "kernels/crews/forms.hpp"
#include "kernels/pi/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "pi";
    const auto task = pi::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return pi::measure_on(crew, task); }); });
}
