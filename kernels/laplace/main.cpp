#include "kernels/crews/forms.hpp"
#include "kernels/crews/hybrid/funnelled_crew.hpp"
#include "kernels/laplace/task.hpp"

using namespace kumiki::kernels;

namespace {

int measure(const laplace::Task& task) {
    if (task.choice.form == "hybrid" && task.communication == laplace::Communication::master) {
        kumiki::Job job;
        FunnelledCrew crew(job, task.choice.all_threads);
        return laplace::measure_on(crew, task);
    }
    return with_crew(task.choice, [&](auto& crew) { return laplace::measure_on(crew, task); });
}

} // namespace

int main(int argc, char** argv) {
    constexpr const char* name = "laplace";
    const auto task = laplace::parse_task(name, StartedBy::itself, argc, argv);
    return kumiki::measure::guarded(name, [&] { return measure(task); });
}
