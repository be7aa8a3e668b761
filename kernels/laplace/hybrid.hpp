#pragma once

#include <memory>
#include <vector>

#include "kernels/laplace/block.hpp"
#include "kernels/laplace/measure_form.hpp"
#include "kumiki/kumiki.hpp"

namespace kumiki::kernels::laplace {

/// Ranks x threads on Kumiki: the rows are cut for the ranks, a rank's rows for its threads. Threads hand their edges
/// over in memory and meet at a barrier each step; ranks put theirs straight into the neighbour's halo, with a signal,
/// and wait for the neighbours' signals only: there is no barrier over the ranks between the steps (see Block for why
/// two halo rows are flow control enough).
class Hybrid {
public:
    Hybrid(Job& job, const Options& options);

    RunTimes run(std::size_t iterations);
    std::uint64_t checksum();
    bool agree(bool mine);
    int rank() const { return job_.rank(); }
    Workers workers() const;

private:
    /// A signal with a line of its own, so that the two neighbours do not share one.
    struct alignas(line_bytes) Arrival {
        Signal count;
    };
    /// What one thread does in the exchange of a step.
    struct Duties {
        std::vector<Side> inside;  ///< edges to hand to sibling threads
        std::vector<Side> outside; ///< sides on which to exchange rows with the neighbour rank
        bool crossing = false;     ///< an edge of one thread is sent by another, so all must meet before
    };

    Duties duties_of(const Member& member) const;
    bool has_neighbour(Side side) const { return side == Side::north ? rank() > 0 : rank() + 1 < job_.size(); }
    int neighbour(Side side) const { return side == Side::north ? rank() - 1 : rank() + 1; }
    /// The rank's halo row of `side` that step `step` reads; as a remote address, the neighbour's.
    double* halo(Side side, std::size_t step);
    const double* fresh_edge(Side side) const;

    void make_block(const Member& member, const Problem& problem);
    void hand_over(const Member& member, Side side, std::size_t step);
    void send(Side side, std::size_t step);
    void receive(Side side, std::size_t step);
    Phases take_steps(Member& member, std::size_t iterations);

    Job& job_;
    Team team_;
    Communication communication_;
    bool overlap_;
    std::size_t columns_, halo_length_;
    Region<double> halos_;     ///< by side and parity of the step
    Region<Arrival> arrivals_; ///< by side: how many edges have arrived from there since the beginning, over all runs
    std::uint64_t arrived_before_ = 0; ///< in earlier runs
    std::vector<std::unique_ptr<Block>> blocks_;
};

} // namespace kumiki::kernels::laplace
