// Laplace's equation by Jacobi with plain MPI: one process a processor (the COMPaS paper's all-mpich).
#include <CLI/CLI.hpp>
#include <mpi.h>

#include <vector>

#include "kernels/common/mpi_job.hpp"
#include "kernels/laplace/measure_form.hpp"
#include "kernels/laplace/options.hpp"
#include "kernels/laplace/ranks_form.hpp"

namespace kumiki::kernels::laplace {
namespace {

/// MPI's messages; see RanksForm.
class MpiWire {
public:
    explicit MpiWire(const MpiJob& job) : job_(job) {}

    int rank() const { return job_.rank(); }
    int size() const { return job_.size(); }
    Workers workers() const { return {KUMIKI_PEER_NAME, "mpi", size(), 1, exceeds_cores(size())}; }
    void barrier() const { job_.barrier(); }
    bool agree(bool mine) const { return job_.agree(mine); }
    std::uint64_t sum(std::uint64_t mine) const { return job_.sum(mine); }
    RunTimes largest(RunTimes mine) const { return job_.largest(mine); }

    void receive(int rank, std::span<double> row) {
        MPI_Irecv(row.data(), static_cast<int>(row.size()), MPI_DOUBLE, rank, 0, MPI_COMM_WORLD,
                  &requests_.emplace_back());
    }
    void send(int rank, std::span<const double> row) {
        MPI_Isend(row.data(), static_cast<int>(row.size()), MPI_DOUBLE, rank, 0, MPI_COMM_WORLD,
                  &requests_.emplace_back());
    }
    void finish() {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
    }

private:
    const MpiJob& job_;
    std::vector<MPI_Request> requests_;
};

} // namespace
} // namespace kumiki::kernels::laplace

int main(int argc, char** argv) {
    using namespace kumiki::kernels::laplace;
    Options options;
    CLI::App program("Laplace's equation by Jacobi's method, plain MPI", "laplace-" KUMIKI_PEER_NAME);
    options.add_common(program);
    kumiki::kernels::add_hidden(program, options.hidden);
    kumiki::measure::parse_or_exit(program, argc, argv);

    return kumiki::kernels::run_mpi_program("laplace-" KUMIKI_PEER_NAME, [&](const kumiki::kernels::MpiJob& job) {
        RanksForm form(MpiWire(job), options);
        return measure_form(form, options);
    });
}
