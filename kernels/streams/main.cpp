#include "kernels/crews/one_memory/openmp_crew.hpp"
#include "kernels/streams/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "streams";
    const auto task = streams::parse_task(name, argc, argv);
    return kumiki::measure::guarded(name, [&] {
        OpenMpCrew crew(task.threads);
        return streams::measure_on(crew, task);
    });
}
