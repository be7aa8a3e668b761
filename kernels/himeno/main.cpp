#include "kernels/crews/forms.hpp"
#include "kernels/himeno/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "himeno";
    const auto task = himeno::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return himeno::measure_on(crew, task); }); });
}
