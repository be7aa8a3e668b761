#pragma once

#include <memory>
#include <vector>

#include "kernels/laplace/block.hpp"
#include "kernels/laplace/measure_form.hpp"

namespace kumiki::kernels::laplace {

/// Threads of one process by plain OpenMP: one parallel region around all steps, a block of rows for each thread, one
/// barrier a step. Bind the threads from outside (OMP_PROC_BIND=true), as is usual.
class OpenMp {
public:
    OpenMp(const Problem& problem, int threads);

    RunTimes run(std::size_t iterations);
    std::uint64_t checksum() const;
    bool agree(bool mine) const { return mine; }
    int rank() const { return 0; }
    Workers workers() const { return {"openmp", "openmp", 1, threads_, exceeds_cores(threads_)}; }

private:
    /// Copies the edges that the step before `step` left to the blocks above and below.
    void hand_over_edges(std::size_t thread, std::size_t step);

    int threads_;
    std::vector<std::unique_ptr<Block>> blocks_;
};

} // namespace kumiki::kernels::laplace
