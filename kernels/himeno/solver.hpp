#pragma once

#include <memory>
#include <vector>

#include "kernels/common/tile_edges.hpp"
#include "kernels/himeno/block.hpp"

namespace kumiki::kernels::himeno {

/// The result of a run: the sum of squared residuals of the last sweep, and the checksum of all pressures.
struct Result {
    double gosa = 0;
    std::uint64_t checksum = 0;
};

/// The benchmark on the workers of a crew: every worker has a block and exchanges its edges before each sweep.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using Memory = typename C::template Memory<float>;
    static_assert(MemoryFor<Memory, Worker, float>);

    /// Collective. Throws std::runtime_error if the grid cannot be cut for so many workers.
    Solver(C& crew, const Problem& problem, const SplitChoice& split)
        : crew_(crew),
          cut_(cut_of(problem, crew.size(), split)),
          edges_(crew, cut_, Block::longest_edge(problem, cut_.tile(0))),
          memory_(crew, Block::storage_length(problem, cut_.tile(0))),
          blocks_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker allocates its own block, so that its memory is near it.
        crew.run([&](Worker& worker) {
            block(worker) = std::make_unique<Block>(problem, cut_.tile(worker.index()), memory_.of(worker));
        });
    }

    /// Performs so many sweeps, from the initial pressures; returns the times of the job.
    RunTimes run(std::size_t sweeps) {
        crew_.run([&](Worker& worker) { block(worker)->reset(); });
        return crew_.run([&](Worker& worker) {
            Block& own = *block(worker);
            double gosa = 0;
            for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
                edges_.exchange_with_corners(
                    worker, [&](Side side) { return own.edge(side); },
                    [&](Side side, const float* edge) { own.accept(side, edge); });
                gosa = own.sweep();
            }
            worker.enter(Phase::synchronisation);
            gosa = worker.sum(gosa);
            if (worker.local() == 0) result_.gosa = gosa;
        });
    }

    /// The sum of squared residuals of the last sweep of the last run, at every rank.
    double gosa() const { return result_.gosa; }

    /// The result of the last run, at every rank.
    Result result() {
        crew_.run([&](Worker& worker) {
            const std::uint64_t sum = worker.sum(block(worker)->checksum());
            if (worker.local() == 0) result_.checksum = sum;
        });
        return result_;
    }

private:
    std::unique_ptr<Block>& block(const Worker& worker) { return blocks_[static_cast<std::size_t>(worker.local())]; }

    C& crew_;
    Cut cut_;
    TileEdges<C, float> edges_;
    Memory memory_;
    std::vector<std::unique_ptr<Block>> blocks_; ///< by worker of this process
    Result result_;
};

} // namespace kumiki::kernels::himeno
