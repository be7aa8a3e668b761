#pragma once

#include <vector>

#include "kernels/crews/blocks.hpp"
#include "kernels/crews/mpi/mpi_crew.hpp"

namespace kumiki::kernels {

/// Non-blocking messages; the receives are started before the sends.
class MpiCrew::Blocks {
public:
    Blocks(const MpiCrew& crew, const BlockPlan& plan)
        : length_(plan.length), routes_(plan, crew.rank(), 1), memory_(plan) {}

    double* at(std::size_t block) { return memory_.at(block); }
    void deliver(Worker& worker, std::size_t round) {
        worker.enter(Phase::communication);
        // A tag is the number in the round: messages with the same one keep their order from round to round.
        for (const auto& [block, number, process] : routes_.incoming(round))
            MPI_Irecv(at(block), static_cast<int>(length_), MPI_DOUBLE, process, number, MPI_COMM_WORLD,
                      &requests_.emplace_back());
        for (const auto& [block, number, processes] : routes_.outgoing(round, worker.local()))
            for (const int process : processes)
                MPI_Isend(at(block), static_cast<int>(length_), MPI_DOUBLE, process, number, MPI_COMM_WORLD,
                          &requests_.emplace_back());
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        worker.enter(Phase::computation);
    }
    static bool in_one_memory() { return false; }

private:
    std::size_t length_;
    BlockRoutes routes_;
    UntouchedBlocks memory_;
    std::vector<MPI_Request> requests_;
};

} // namespace kumiki::kernels
