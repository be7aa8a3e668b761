#include "kernels/cg/forms.hpp"
#include "kernels/cg/generator.hpp"
#include "kernels/cg/worker.hpp"

namespace kumiki::kernels::cg {
namespace {

struct Nobody {
    void share() {}
    template <std::size_t N>
    std::array<double, N> sum(std::array<double, N> values) {
        return values;
    }
};

} // namespace

int run_sequential(const Task& task) {
    AlignedVector<double> vector(task.problem.order);
    Worker worker(task.problem, Generator(task.problem).multiply_out({0, task.problem.order}), vector);
    Outcome outcome;
    outcome.runs = sample_runs(task.budget, [&] {
        Phases phases;
        Steps steps;
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        const double zeta = worker.estimate(Nobody(), steps);
        steps.stop();
        phases.stop();
        const RunTimes times(measure::seconds_since(start), phases, steps);
        outcome.valid &= task.problem.verifies(zeta);
        return times;
    });
    return conclude(report_of(task, "kumiki", 1, 1), outcome);
}

} // namespace kumiki::kernels::cg
