#pragma once

#include "kernels/laplace/block.hpp"
#include "kernels/laplace/measure_form.hpp"

namespace kumiki::kernels::laplace {

/// One block, one thread.
class Sequential {
public:
    explicit Sequential(const Problem& problem) : grid_(problem, {0, problem.size}) {}

    RunTimes run(std::size_t iterations) {
        grid_.reset();
        Phases phases;
        const auto start = measure::Clock::now();
        phases.enter(Phase::computation);
        for (std::size_t step = 0; step < iterations; ++step) grid_.relax();
        phases.stop();
        return {measure::seconds_since(start), phases};
    }
    std::uint64_t checksum() const { return grid_.checksum(); }
    bool agree(bool mine) const { return mine; }
    int rank() const { return 0; }
    Workers workers() const { return {"kumiki", "sequential"}; }

private:
    Block grid_;
};

} // namespace kumiki::kernels::laplace
