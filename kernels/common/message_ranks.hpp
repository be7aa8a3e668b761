#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernels/common/settle.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::kernels {

/// The ranks of a program in the form `message` that has one thread in each: what MpiJob is to the form `mpi`.
class MessageRanks {
public:
    explicit MessageRanks(Job& job) : job_(job) {
        if (job.threads() > 1)
            throw std::runtime_error("the form message computes with one thread in each rank; start it with "
                                     "kumiki-run -t 1, or take --form hybrid");
    }

    Job& job() { return job_; }
    int rank() const { return job_.rank(); }
    int size() const { return job_.size(); }
    Workers workers() const { return {"kumiki", "message", job_.size(), 1, job_.oversubscribed()}; }
    void barrier() { job_.barrier(); }
    bool agree(bool mine) { return agreed(job_, mine); }
    std::uint64_t sum(std::uint64_t mine) { return job_.all_reduce(mine, Operation::sum); }
    RunTimes largest(RunTimes mine) { return kernels::largest(job_, mine); }

private:
    Job& job_;
};

} // namespace kumiki::kernels
