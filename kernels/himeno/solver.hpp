#pragma once

#include <memory>
#include <vector>

#include "kernels/himeno/cut.hpp"

namespace kumiki::kernels::himeno {

/// What a run leaves: the sum of squared residuals of the last sweep, and the checksum of all pressures.
struct Result {
    double gosa = 0;
    std::uint64_t checksum = 0;
};

/// The benchmark on the workers of a crew: every worker has a block and exchanges its edges before each sweep.
template <Crew C>
class Solver {
public:
    using Worker = typename C::Worker;
    using Edges = typename C::template Edges<float>;
    static_assert(EdgesBetween<Edges, Worker, float>);

    /// Collective.
    Solver(C& crew, const Problem& problem, Split split)
        : crew_(crew),
          cut_(problem, crew.size(), split),
          edges_(crew, side_count, cut_.longest_edge()),
          blocks_(static_cast<std::size_t>(crew.local_size())) {
        // Every worker makes its own block, so that its memory lies near it.
        crew.run([&](Worker& worker) {
            block(worker) = std::make_unique<Block>(problem, cut_.planes(worker.index()), cut_.rows(worker.index()));
        });
    }

    /// Sweeps so often, from the initial pressures; the times of the job.
    RunTimes run(std::size_t sweeps) {
        crew_.run([&](Worker& worker) { block(worker)->reset(); });
        return crew_.run([&](Worker& worker) {
            const auto neighbours = cut_.neighbours(worker.index());
            double gosa = 0;
            for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
                for (const auto& group : neighbours) exchange(worker, group);
                gosa = block(worker)->sweep();
            }
            worker.enter(Phase::synchronisation);
            gosa = worker.sum(gosa);
            if (worker.local() == 0) result_.gosa = gosa;
        });
    }

    /// What the last run left, at every rank.
    Result result() {
        crew_.run([&](Worker& worker) {
            const std::uint64_t sum = worker.sum(block(worker)->checksum());
            if (worker.local() == 0) result_.checksum = sum;
        });
        return result_;
    }

private:
    std::unique_ptr<Block>& block(const Worker& worker) { return blocks_[static_cast<std::size_t>(worker.local())]; }

    void exchange(Worker& worker, const std::vector<Cut::Neighbour>& neighbours) {
        for (const auto& [side, link] : neighbours) edges_.start(worker, link, block(worker)->edge(side));
        edges_.finish(worker);
        for (const auto& [side, link] : neighbours) block(worker)->accept(side, edges_.arrived(worker, link));
    }

    C& crew_;
    Cut cut_;
    Edges edges_;
    std::vector<std::unique_ptr<Block>> blocks_; ///< by worker of this process
    Result result_;
};

} // namespace kumiki::kernels::himeno
