#include "kernels/cg/forms.hpp"
#include "measure/program.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels::cg;
    const Task task = parse_task(argc, argv);
    return kumiki::measure::guarded("cg", [&] {
        if (task.form == "sequential") return run_sequential(task);
        if (task.form == "openmp") return run_openmp(task);
        if (task.form == "message") return run_message(task);
        return run_hybrid(task);
    });
}
