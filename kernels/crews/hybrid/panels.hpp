#pragma once

#include <span>

#include "kernels/crews/hybrid/hybrid_crew.hpp"
#include "kernels/crews/panels.hpp"

namespace kumiki::kernels {

/// Panels are read in place, or the first thread of a rank gets the next one while the other threads use the present
/// one. Both are one-sided, so no rank has to serve another one. If any owner is on another host, all panels are got.
class HybridCrew::Panels {
public:
    static constexpr bool any_order = true;

    /// Collective.
    Panels(HybridCrew& crew, PanelLine line, Fetch fetch)
        : job_(crew.job()), blocks_(job_.allocate<double>(line.largest)), buffers_(job_.rank(), std::move(line)) {
        gets_ = fetch != Fetch::in_place || !all_in_reach();
        if (gets_) buffers_.make();
    }

    double* block() { return blocks_.data(); }
    void start(Worker& worker, std::size_t number) {
        if (!gets_ || worker.local() != 0 || buffers_.is_own(number)) return;
        worker.enter(Phase::communication);
        const auto [owner, begin, count] = buffers_.place(number);
        under_way_ = job_.start_get(owner, blocks_.data() + begin, std::span(buffers_.buffer(number), count));
        worker.enter(Phase::computation);
    }
    void wait(Worker& worker, std::size_t) {
        if (worker.local() != 0 || !under_way_.open()) return;
        worker.enter(Phase::communication);
        under_way_.wait();
        worker.enter(Phase::computation);
    }
    const double* at(std::size_t number) const {
        const auto [owner, begin, count] = buffers_.place(number);
        if (buffers_.is_own(number)) return blocks_.data() + begin;
        return gets_ ? buffers_.buffer(number) : blocks_.at(owner).data() + begin;
    }
    bool copies() const { return gets_; }
    bool gets() const { return gets_; }

private:
    bool all_in_reach() const {
        for (int other = 0; other < job_.size(); ++other)
            if (blocks_.at(other).empty()) return false;
        return true;
    }

    Job& job_;
    Region<double> blocks_;
    PanelBuffers buffers_;
    bool gets_ = false;
    Request under_way_;
};

} // namespace kumiki::kernels
