#include "kernels/crews/forms.hpp"
#include "kernels/radix-sort/library.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "radix-sort";
    const auto task = radix_sort::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(name, [&] {
        if (task.choice.form == "library") return radix_sort::measure_libraries(task);
        return with_crew(task.choice, [&](auto& crew) { return radix_sort::measure_on(crew, task); });
    });
}
