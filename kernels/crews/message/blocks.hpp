#pragma once

#include <vector>

#include "kernels/crews/blocks.hpp"
#include "kernels/crews/message/message_crew.hpp"

namespace kumiki::kernels {

/// The thread that finishes a block sends it to each rank that needs it, where the first thread receives it.
class MessageCrew::Blocks {
public:
    Blocks(MessageCrew& crew, const BlockPlan& plan)
        : job_(crew.job()),
          length_(plan.length),
          routes_(plan, job_.rank(), crew.local_size()),
          several_(crew.local_size() > 1),
          memory_(plan) {}

    double* at(std::size_t block) { return memory_.at(block); }
    void deliver(Worker& worker, std::size_t round) {
        worker.enter(Phase::communication);
        // A tag is the number in the round: messages with the same one keep their order from round to round.
        std::vector<Request> requests;
        if (worker.local() == 0)
            for (const auto& [block, number, rank] : routes_.incoming(round))
                requests.push_back(job_.receive(rank, number, std::span(at(block), length_)));
        for (const auto& [block, number, ranks] : routes_.outgoing(round, worker.local()))
            for (const int rank : ranks)
                requests.push_back(job_.send(rank, number, std::span<const double>(at(block), length_)));
        wait_all(requests);
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
    UntouchedBlocks memory_;
};

} // namespace kumiki::kernels
