#include "kernels/radix-sort/forms.hpp"
#include "measure/program.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels::radix_sort;
    const Task task = parse_task(argc, argv);
    return kumiki::measure::guarded("radix-sort", [&] {
        if (task.form == "sequential") return run_sequential(task);
        if (task.form == "openmp") return run_openmp(task);
        if (task.form == "library") return run_library(task);
        return run_hybrid(task);
    });
}
