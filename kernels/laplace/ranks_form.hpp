#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/common/hidden.hpp"
#include "kernels/laplace/block.hpp"
#include "kernels/laplace/options.hpp"

namespace kumiki::kernels::laplace {

/// One thread in each process (the COMPaS paper's all-mpich): rows are exchanged by non-blocking messages, the receive
/// before the send. A Wire brings the messages, of MPI or of Kumiki:
///   rank(), size(), workers(), barrier(), agree(bool), sum(std::uint64_t), largest(RunTimes)   as MpiJob has them
///   receive(int rank, std::span<double>), send(int rank, std::span<const double>)              start
///   finish()                                             returns when all that was started is complete
template <class Wire>
class RanksForm {
public:
    RanksForm(Wire wire, const Options& options)
        : wire_(std::move(wire)), overlap_(options.overlap), block_(options.problem, own_rows(options.problem)) {}

    RunTimes run(std::size_t iterations, Extent extent = Extent::all) {
        const bool computes = extent != Extent::communication, communicates = extent != Extent::computation;
        block_.reset();
        wire_.barrier();
        Phases phases;
        const auto start = measure::Clock::now();
        for (std::size_t step = 1; step <= iterations; ++step) {
            phases.enter(Phase::communication);
            if (communicates) start_receives(step);
            phases.enter(Phase::computation);
            if (computes && overlap_) block_.relax_edges();
            else if (computes) block_.relax();
            phases.enter(Phase::communication);
            if (communicates) start_sends();
            if (computes && overlap_) {
                phases.enter(Phase::computation);
                block_.relax_inside();
                phases.enter(Phase::communication);
            }
            if (communicates) wire_.finish();
        }
        phases.enter(Phase::synchronisation);
        wire_.barrier();
        phases.stop();
        return wire_.largest({measure::seconds_since(start), phases});
    }
    std::uint64_t checksum() { return wire_.sum(block_.checksum()); }
    bool agree(bool mine) { return wire_.agree(mine); }
    int rank() const { return wire_.rank(); }
    Workers workers() const { return wire_.workers(); }

private:
    Range own_rows(const Problem& problem) const {
        if (problem.size < static_cast<std::size_t>(wire_.size()))
            throw std::runtime_error("a grid of " + std::to_string(problem.size) + " rows cannot be cut for " +
                                     std::to_string(wire_.size()) +
                                     " processes; give --size at least as many rows as there are processes");
        return share(problem.size, static_cast<std::size_t>(wire_.size()), static_cast<std::size_t>(wire_.rank()));
    }

    /// Ready for the halos that step `step` reads before they can arrive, so that they need not be kept elsewhere
    /// meanwhile.
    void start_receives(std::size_t step) {
        for (const Side side : sides)
            if (!block_.at_boundary(side))
                wire_.receive(neighbour(side), std::span(block_.halo(side, step), block_.columns()));
    }
    void start_sends() {
        for (const Side side : sides)
            if (!block_.at_boundary(side))
                wire_.send(neighbour(side),
                           std::span(overlap_ ? block_.early_edge(side) : block_.edge(side), block_.columns()));
    }
    int neighbour(Side side) const { return side == Side::north ? wire_.rank() - 1 : wire_.rank() + 1; }

    Wire wire_;
    bool overlap_;
    Block block_;
};

} // namespace kumiki::kernels::laplace
