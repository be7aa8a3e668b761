#pragma once

#include <mpi.h>

#include <cstdint>

#include "kernels/common/job_report.hpp"
#include "measure/program.hpp"

namespace kumiki::kernels {

/// The processes of an MPI program: everything that the kernels need besides their own communication. MPI's default
/// error handler ends the job with a message, so no call here has to check a code.
class MpiJob {
public:
    MpiJob() { MPI_Init(nullptr, nullptr); }
    MpiJob(const MpiJob&) = delete;
    MpiJob& operator=(const MpiJob&) = delete;
    ~MpiJob() { MPI_Finalize(); }

    int rank() const {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }
    int size() const {
        int size = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        return size;
    }
    void barrier() const { MPI_Barrier(MPI_COMM_WORLD); }
    /// Rank 0's decision, at every rank.
    bool agree(bool mine) const {
        int decision = mine ? 1 : 0;
        MPI_Bcast(&decision, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return decision != 0;
    }
    std::uint64_t sum(std::uint64_t mine) const {
        MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return mine;
    }
    /// Makes the job's times from the ranks'.
    RunTimes largest(RunTimes mine) const {
        MPI_Allreduce(MPI_IN_PLACE, mine.figures.data(), static_cast<int>(mine.figures.size()), MPI_DOUBLE, MPI_MAX,
                      MPI_COMM_WORLD);
        return mine;
    }
};

/// Calls body(const MpiJob&) -> int between MPI_Init and MPI_Finalize and returns its exit code. An exception is
/// printed and ends the whole job with 3, because the other processes may be waiting for the one that threw.
template <class Body>
int run_mpi_program(const char* name, Body body) {
    const MpiJob job;
    try {
        return measure::written(name, body(job));
    } catch (const std::exception& error) {
        measure::print_error(name, error);
        MPI_Abort(MPI_COMM_WORLD, measure::environment);
        return measure::environment;
    }
}

} // namespace kumiki::kernels
