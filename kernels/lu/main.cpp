#include "kernels/crews/forms.hpp"
#include "kernels/lu/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "lu";
    const auto task = lu::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(
        name, [&] { return with_crew(task.choice, [&](auto& crew) { return lu::measure_on(crew, task); }); });
}
