// Laplace's equation by Jacobi with plain MPI: one process a processor (the COMPaS paper's all-mpich), rows
// exchanged by non-blocking messages.
#include <CLI/CLI.hpp>
#include <mpi.h>

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/common/mpi_job.hpp"
#include "kernels/laplace/block.hpp"
#include "kernels/laplace/measure_form.hpp"
#include "kernels/laplace/options.hpp"

namespace kumiki::kernels::laplace {

namespace {

class Mpi {
public:
    Mpi(const MpiJob& job, const Options& options)
        : job_(job), overlap_(options.overlap), block_(options.problem, rows_of(job, options.problem)) {}

    RunTimes run(std::size_t iterations) {
        block_.reset();
        job_.barrier();
        Phases phases;
        const auto start = measure::Clock::now();
        for (std::size_t step = 1; step <= iterations; ++step) {
            phases.enter(Phase::communication);
            start_receives(step);
            phases.enter(Phase::computation);
            if (overlap_) block_.relax_edges();
            else block_.relax();
            phases.enter(Phase::communication);
            start_sends();
            if (overlap_) {
                phases.enter(Phase::computation);
                block_.relax_inside();
                phases.enter(Phase::communication);
            }
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        }
        phases.enter(Phase::synchronisation);
        job_.barrier();
        phases.stop();
        return job_.largest({measure::seconds_since(start), phases});
    }
    std::uint64_t checksum() const { return job_.sum(block_.checksum()); }
    bool agree(bool mine) const { return job_.agree(mine); }
    int rank() const { return job_.rank(); }
    Workers workers() const { return {KUMIKI_MPI_NAME, "mpi", job_.size(), 1, exceeds_cores(job_.size())}; }

private:
    static Range rows_of(const MpiJob& job, const Problem& problem) {
        if (problem.size < static_cast<std::size_t>(job.size()))
            throw std::runtime_error("a grid of " + std::to_string(problem.size) + " rows cannot be cut for " +
                                     std::to_string(job.size()) +
                                     " processes; give --size at least as many rows as there are processes");
        return share(problem.size, static_cast<std::size_t>(job.size()), static_cast<std::size_t>(job.rank()));
    }

    // MPI_PROC_NULL makes nothing of an exchange beyond the first and last rank.

    /// Ready for the halos that step `step` reads before they can arrive, so that they need not be kept elsewhere
    /// meanwhile.
    void start_receives(std::size_t step) {
        for (const Side side : sides)
            MPI_Irecv(block_.halo(side, step), columns(), MPI_DOUBLE, neighbour(side), 0, MPI_COMM_WORLD,
                      &requests_[static_cast<std::size_t>(side)]);
    }
    void start_sends() {
        for (const Side side : sides) {
            const double* const edge = overlap_ ? block_.early_edge(side) : block_.edge(side);
            MPI_Isend(edge, columns(), MPI_DOUBLE, neighbour(side), 0, MPI_COMM_WORLD,
                      &requests_[2 + static_cast<std::size_t>(side)]);
        }
    }
    int columns() const { return static_cast<int>(block_.columns()); }
    int neighbour(Side side) const {
        if (block_.at_boundary(side)) return MPI_PROC_NULL;
        return side == Side::north ? job_.rank() - 1 : job_.rank() + 1;
    }

    const MpiJob& job_;
    bool overlap_;
    Block block_;
    std::array<MPI_Request, 4> requests_{};
};

} // namespace

} // namespace kumiki::kernels::laplace

int main(int argc, char** argv) {
    using namespace kumiki::kernels::laplace;
    Options options;
    CLI::App program("Laplace's equation by Jacobi's method, plain MPI", "laplace-" KUMIKI_MPI_NAME);
    options.add_common(program);
    kumiki::measure::parse_or_exit(program, argc, argv);

    return kumiki::kernels::run_mpi_program("laplace-" KUMIKI_MPI_NAME, [&](const kumiki::kernels::MpiJob& job) {
        Mpi form(job, options);
        return measure_form(form, options);
    });
}
