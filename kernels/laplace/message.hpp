#pragma once

#include <span>
#include <vector>

#include "kernels/common/message_ranks.hpp"

namespace kumiki::kernels::laplace {

/// Kumiki's messages; see RanksForm.
class MessageWire : public MessageRanks {
public:
    using MessageRanks::MessageRanks;

    void receive(int rank, std::span<double> row) { requests_.push_back(job().receive(rank, tag, row)); }
    void send(int rank, std::span<const double> row) { requests_.push_back(job().send(rank, tag, row)); }
    void finish() {
        wait_all(requests_);
        requests_.clear();
    }

private:
    static constexpr int tag = 0; // a neighbour is on one side only, and its messages keep their order

    std::vector<Request> requests_;
};

} // namespace kumiki::kernels::laplace
