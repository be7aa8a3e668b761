#include "kernels/crews/forms.hpp"
#include "kernels/matmul/library.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "matmul";
    const auto task = matmul::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(name, [&] {
        if (task.choice.form == "library" || task.choice.form == "bound") return matmul::measure_library(task);
        return with_crew(task.choice, [&](auto& crew) { return matmul::measure_on(crew, task); });
    });
}
