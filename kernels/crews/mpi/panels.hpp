#pragma once

#include <algorithm>

#include "kernels/crews/mpi/mpi_crew.hpp"
#include "kernels/crews/panels.hpp"

namespace kumiki::kernels {

/// MPI_Ibcast along the line.
class MpiCrew::Panels {
public:
    static constexpr bool any_order = false;

    /// Collective.
    Panels(const MpiCrew& crew, PanelLine line, Fetch)
        : block_(untouched(line.largest)), buffers_(crew.rank(), std::move(line)) {
        buffers_.make();
        MPI_Comm_split(MPI_COMM_WORLD, buffers_.line().processes.front(), crew.rank(), &processes_);
    }
    Panels(const Panels&) = delete;
    Panels& operator=(const Panels&) = delete;
    ~Panels() { MPI_Comm_free(&processes_); }

    double* block() { return block_.get(); }
    void start(Worker& worker, std::size_t number) {
        worker.enter(Phase::communication);
        const auto [owner, begin, count] = buffers_.place(number);
        double* const panel = buffers_.is_own(number) ? block_.get() + begin : buffers_.buffer(number);
        const auto& line = buffers_.line().processes;
        const auto root = static_cast<int>(std::ranges::find(line, owner) - line.begin());
        MPI_Ibcast(panel, static_cast<int>(count), MPI_DOUBLE, root, processes_, &request_);
        worker.enter(Phase::computation);
    }
    void wait(Worker& worker, std::size_t) {
        worker.enter(Phase::communication);
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
        worker.enter(Phase::computation);
    }
    const double* at(std::size_t number) const {
        return buffers_.is_own(number) ? block_.get() + buffers_.place(number).begin : buffers_.buffer(number);
    }
    static bool copies() { return true; }
    static bool gets() { return false; }

private:
    std::unique_ptr<double[]> block_;
    PanelBuffers buffers_;
    MPI_Comm processes_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace kumiki::kernels
