#pragma once

#include <vector>

#include "kernels/crews/blocks.hpp"
#include "kernels/crews/hybrid/hybrid_crew.hpp"

namespace kumiki::kernels {

/// Every rank has a place for every block in a region. The thread that finishes a block puts it to that place at each
/// rank that needs it, with a signal of the round; nothing there is overwritten before the next run.
class HybridCrew::Blocks {
public:
    /// Collective.
    Blocks(HybridCrew& crew, const BlockPlan& plan)
        : job_(crew.job()),
          length_(plan.length),
          routes_(plan, job_.rank(), crew.local_size()),
          several_(crew.local_size() > 1),
          memory_(job_.allocate<double>(plan.count * length_)),
          arrived_(job_.allocate<Signal>(plan.rounds.size())),
          expected_(plan.rounds.size()) {}

    double* at(std::size_t block) { return memory_.data() + block * length_; }
    void deliver(Worker& worker, std::size_t round) {
        worker.enter(Phase::communication);
        for (const auto& [block, number, ranks] : routes_.outgoing(round, worker.local()))
            for (const int rank : ranks)
                job_.put_signal(rank, at(block), std::span<const double>(at(block), length_), arrived_[round], 1,
                                SignalOperation::add);
        if (worker.local() == 0) {
            expected_[round] += routes_.incoming(round).size(); // the signals count over all runs
            job_.wait(arrived_[round], Comparison::at_least, expected_[round]);
        }
        if (several_) {
            worker.enter(Phase::synchronisation);
            worker.local_barrier();
        }
        worker.enter(Phase::computation);
    }
    static bool in_one_memory() { return false; }

private:
    Job& job_;
    std::size_t length_;
    BlockRoutes routes_;
    bool several_; ///< threads in this rank
    Region<double> memory_;
    Region<Signal> arrived_;              ///< by round: the blocks that have arrived, over all runs
    std::vector<std::uint64_t> expected_; ///< of the first thread
};

} // namespace kumiki::kernels
