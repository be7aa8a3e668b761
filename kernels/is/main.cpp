#include "kernels/crews/forms.hpp"
#include "kernels/is/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "is";
    const auto task = is::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return is::measure_on(crew, task); }); });
}
