#include <omp.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/cg/forms.hpp"
#include "kernels/cg/generator.hpp"
#include "kernels/cg/worker.hpp"

// The form for threads only, as one writes it with OpenMP: the peer that the hybrid form with one rank is compared
// with.

namespace kumiki::kernels::cg {
namespace {

/// Where the threads leave what is to be summed up. A sum is always followed by a share, so a slot is read by all
/// before it is written again.
struct alignas(line_bytes) Slot {
    std::array<double, 4> values;
};

class Siblings {
public:
    Siblings(std::vector<Slot>& slots, Phases& phases)
        : slots_(slots), phases_(phases), thread_(omp_get_thread_num()) {}

    void share() { meet(); }

    template <std::size_t N>
    std::array<double, N> sum(const std::array<double, N>& values) {
        std::ranges::copy(values, slots_[static_cast<std::size_t>(thread_)].values.begin());
        meet();
        std::array<double, N> total{};
        for (const Slot& slot : slots_)
            for (std::size_t i = 0; i < N; ++i) total[i] += slot.values[i];
        return total;
    }

private:
    void meet() {
        if (thread_ == 0) phases_.enter(Phase::synchronisation);
#pragma omp barrier
        if (thread_ == 0) phases_.enter(Phase::computation);
    }

    std::vector<Slot>& slots_;
    Phases& phases_;
    int thread_;
};

} // namespace

int run_openmp(const Task& task) {
    const int threads =
        task.threads > 0 ? task.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const Generator generator(task.problem);
    const auto rows = generator.balanced_rows(threads);
    AlignedVector<double> vector(task.problem.order);
    std::vector<std::optional<Worker>> workers(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
    {
        const auto own = static_cast<std::size_t>(omp_get_thread_num());
        workers[own].emplace(task.problem, generator.multiply_out(rows[own]), vector);
    }
    std::vector<Slot> slots(static_cast<std::size_t>(threads));
    Outcome outcome;
    outcome.runs = sample_runs(task.budget, [&] {
        Phases phases;
        Steps steps;
        double zeta = 0.0;
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
#pragma omp parallel num_threads(threads)
        {
            Steps own_steps;
            const double found =
                workers[static_cast<std::size_t>(omp_get_thread_num())]->estimate(Siblings(slots, phases), own_steps);
#pragma omp master
            {
                zeta = found;
                steps = own_steps;
            }
        }
        steps.stop();
        phases.stop();
        const RunTimes times(measure::seconds_since(start), phases, steps);
        outcome.valid &= task.problem.verifies(zeta);
        return times;
    });
    return conclude(report_of(task, "openmp", 1, threads), outcome);
}

} // namespace kumiki::kernels::cg
