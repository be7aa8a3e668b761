#pragma once

#include <vector>

#include "kernels/crews/mpi/mpi_crew.hpp"
#include "kernels/crews/shared_vector.hpp"

namespace kumiki::kernels {

/// MPI_Allgatherv.
class MpiCrew::SharedVector : public ArrivesWhole {
public:
    SharedVector(const MpiCrew&, std::span<const Range> parts) : vector_(parts.back().end) {
        for (const Range& part : parts) {
            begins_.push_back(static_cast<int>(part.begin));
            counts_.push_back(static_cast<int>(part.size()));
        }
    }

    std::span<double> span() { return vector_; }
    void start(Worker& worker) {
        worker.enter(Phase::communication);
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, vector_.data(), counts_.data(), begins_.data(), MPI_DOUBLE,
                       MPI_COMM_WORLD);
        worker.enter(Phase::computation);
    }

private:
    AlignedVector<double> vector_;
    std::vector<int> begins_, counts_; ///< by process
};

} // namespace kumiki::kernels
