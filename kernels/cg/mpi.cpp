#include <mpi.h>

#include <vector>

#include "kernels/cg/generator.hpp"
#include "kernels/cg/task.hpp"
#include "kernels/cg/worker.hpp"
#include "kernels/common/mpi_job.hpp"

// The plain MPI form: one process per core, the same worker, MPI_Allgatherv for the vector and MPI_Allreduce for the
// sums.

namespace kumiki::kernels::cg {
namespace {

class Processes {
public:
    Processes(std::span<double> vector, std::span<const Range> rows, Phases& phases)
        : vector_(vector), phases_(phases) {
        for (const Range& range : rows) {
            begins_.push_back(static_cast<int>(range.begin));
            counts_.push_back(static_cast<int>(range.size()));
        }
    }

    void share() {
        phases_.enter(Phase::communication);
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, vector_.data(), counts_.data(), begins_.data(), MPI_DOUBLE,
                       MPI_COMM_WORLD);
        phases_.enter(Phase::computation);
    }

    template <std::size_t N>
    std::array<double, N> sum(std::array<double, N> values) {
        phases_.enter(Phase::communication);
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(N), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        phases_.enter(Phase::computation);
        return values;
    }

private:
    std::span<double> vector_;
    Phases& phases_;
    std::vector<int> begins_, counts_;
};

int run(const MpiJob& job, const Task& task) {
    const Generator generator(task.problem);
    const auto rows = generator.balanced_rows(job.size());
    AlignedVector<double> vector(task.problem.order);
    Worker worker(task.problem, generator.multiply_out(rows[static_cast<std::size_t>(job.rank())]), vector);

    Outcome outcome;
    const auto run_once = [&] {
        Phases phases;
        Steps steps;
        job.barrier();
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        const double zeta = worker.estimate(Processes(vector, rows, phases), steps);
        phases.enter(Phase::synchronisation);
        job.barrier();
        steps.stop();
        phases.stop();
        const RunTimes times(measure::seconds_since(start), phases, steps);
        const std::uint64_t wrong = task.problem.verifies(zeta) ? 0 : 1;
        outcome.valid &= job.sum(wrong) == 0;
        return job.largest(times);
    };
    outcome.runs = sample_runs(task.budget, run_once, [&](bool more) { return job.agree(more); });
    const JobReport report = report_of(task, KUMIKI_PEER_NAME, job.size(), 1);
    if (job.rank() == 0) return conclude(report, outcome);
    return outcome.valid ? measure::success : measure::validation_failed;
}

} // namespace
} // namespace kumiki::kernels::cg

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "cg-" KUMIKI_PEER_NAME;
    const auto task = cg::parse_mpi_task(name, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) { return cg::run(job, task); });
}
