#pragma once

#include <vector>

#include "kernels/crews/hybrid/hybrid_crew.hpp"
#include "kernels/crews/shared_vector.hpp"

namespace kumiki::kernels {

/// The vector is in a region. A thread puts its part to the other ranks itself: the part is in its cache, and no thread
/// has to wait for a master first. The signals that arrive with the others' parts replace a barrier, which would cost a
/// query to each of them before (has all been done?) and another message after.
class HybridCrew::SharedVector : public ArrivesWhole {
public:
    /// Collective.
    SharedVector(HybridCrew& crew, std::span<const Range> parts)
        : job_(crew.job()),
          threads_(crew.local_size()),
          parts_(parts.begin(), parts.end()),
          vector_(job_.allocate<double>(parts.back().end)),
          arrived_(job_.allocate<Signal>(1)) {}

    std::span<double> span() { return vector_.span(); }
    void start(Worker& worker) {
        worker.enter(Phase::communication);
        const Range part = parts_[static_cast<std::size_t>(worker.index())];
        const auto own = span().subspan(part.begin, part.size());
        for (int rank = 0; rank < job_.size(); ++rank)
            if (rank != job_.rank())
                job_.put_signal(rank, own.data(), std::span<const double>(own), arrived_[0], 1, SignalOperation::add);
        worker.enter(Phase::synchronisation);
        if (worker.local() == 0) {
            expected_ += static_cast<std::uint64_t>(job_.size() - 1) * static_cast<std::uint64_t>(threads_);
            job_.wait(arrived_[0], Comparison::at_least, expected_);
        }
        worker.local_barrier();
        worker.enter(Phase::computation);
    }

private:
    Job& job_;
    int threads_;
    std::vector<Range> parts_; ///< by worker
    Region<double> vector_;
    Region<Signal> arrived_;     ///< how many parts of other ranks' threads have arrived, over all exchanges
    std::uint64_t expected_ = 0; ///< of the first thread
};

} // namespace kumiki::kernels
