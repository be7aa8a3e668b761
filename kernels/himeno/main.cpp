#include "kernels/common/forms.hpp"
#include "kernels/himeno/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    const auto task = himeno::parse_task(argc, argv);
    return kumiki::measure::guarded(
        "himeno", [&] { return with_crew(task.choice, [&](auto& crew) { return himeno::measure_on(crew, task); }); });
}
