#pragma once

#include <memory>
#include <vector>

#include "kernels/common/hidden.hpp"
#include "kernels/common/tile_edges.hpp"
#include "kernels/laplace/block.hpp"

namespace kumiki::kernels::laplace {

/// Jacobi's method on the workers of a crew: every worker has some rows, and exchanges its edges after each step.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using Memory = typename C::template Memory<double>;
    static_assert(MemoryFor<Memory, Worker, double>);

    /// Collective. `overlap`: edges travel while the inside is computed. Throws std::runtime_error if the grid cannot
    /// be cut for so many workers.
    Solver(C& crew, const Problem& problem, bool overlap)
        : crew_(crew),
          overlap_(overlap),
          cut_(problem.size, problem.size, crew.size(), SplitChoice::rows_alone()),
          edges_(crew, cut_, problem.size),
          memory_(crew, Block::storage_length(problem, cut_.tile(0).rows)),
          blocks_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker allocates its own block, so that its memory is near it.
        crew.run([&](Worker& worker) {
            const Range rows = cut_.tile(worker.index()).rows; // these count from the boundary
            block(worker) = std::make_unique<Block>(problem, Range{rows.begin - 1, rows.end - 1}, memory_.of(worker));
        });
    }

    /// Performs so many steps from the initial guess, or only one part of them; returns the times of the job.
    RunTimes run(std::size_t iterations, Extent extent = Extent::all) {
        crew_.run([&](Worker& worker) { block(worker)->reset(); });
        return crew_.run([&](Worker& worker) {
            for (std::size_t step = 0; step < iterations; ++step) take_step(worker, extent);
        });
    }

    /// For the whole grid after the last run, at every rank.
    std::uint64_t checksum() {
        std::uint64_t checksum = 0;
        crew_.run([&](Worker& worker) {
            const std::uint64_t sum = worker.sum(block(worker)->checksum());
            if (worker.local() == 0) checksum = sum;
        });
        return checksum;
    }

private:
    std::unique_ptr<Block>& block(const Worker& worker) { return blocks_[static_cast<std::size_t>(worker.local())]; }

    void take_step(Worker& worker, Extent extent) {
        Block& own = *block(worker);
        const bool computes = extent != Extent::communication, communicates = extent != Extent::computation;
        if (communicates) edges_.expect(worker, Sides::all);
        if (computes && overlap_) own.relax_edges();
        else if (computes) own.relax();
        if (communicates)
            edges_.start(worker, Sides::all,
                         [&](Side side) { return overlap_ ? own.early_edge(side) : own.edge(side); });
        if (computes && overlap_) own.relax_inside();
        if (communicates)
            edges_.finish(worker, Sides::all, [&](Side side, const double* edge) { own.accept(side, edge); });
    }

    C& crew_;
    bool overlap_;
    Cut cut_;
    TileEdges<C> edges_;
    Memory memory_;
    std::vector<std::unique_ptr<Block>> blocks_; ///< by worker of this process
};

} // namespace kumiki::kernels::laplace
