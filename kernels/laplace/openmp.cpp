#include "kernels/laplace/openmp.hpp"

#include <omp.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace kumiki::kernels::laplace {

OpenMp::OpenMp(const Problem& problem, int threads) : threads_(threads), blocks_(static_cast<std::size_t>(threads)) {
    if (problem.size < blocks_.size())
        throw std::runtime_error("a grid of " + std::to_string(problem.size) + " rows cannot be cut for " +
                                 std::to_string(threads) +
                                 " threads; give --size at least as many rows as there are threads");
    // Every thread makes its own block, so that its memory lies near it.
#pragma omp parallel num_threads(threads_)
    {
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        blocks_[thread] = std::make_unique<Block>(problem, share(problem.size, blocks_.size(), thread));
    }
}

void OpenMp::hand_over_edges(std::size_t thread, std::size_t step) {
    Block& block = *blocks_[thread];
    if (thread > 0) std::copy_n(block.edge(Side::north), block.columns(), blocks_[thread - 1]->halo(Side::south, step));
    if (thread + 1 < blocks_.size())
        std::copy_n(block.edge(Side::south), block.columns(), blocks_[thread + 1]->halo(Side::north, step));
}

RunTimes OpenMp::run(std::size_t iterations) {
    RunTimes times;
#pragma omp parallel num_threads(threads_)
    {
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        Block& block = *blocks_[thread];
        block.reset();
        Phases phases;
#pragma omp barrier
        const auto start = measure::Clock::now();
        for (std::size_t step = 1; step <= iterations; ++step) {
            phases.enter(Phase::computation);
            block.relax();
            hand_over_edges(thread, step);
            phases.enter(Phase::synchronisation);
#pragma omp barrier
        }
        phases.stop();
        if (thread == 0) times = {measure::seconds_since(start), phases};
    }
    return times;
}

std::uint64_t OpenMp::checksum() const {
    std::uint64_t sum = 0;
    for (const auto& block : blocks_) sum += block->checksum();
    return sum;
}

} // namespace kumiki::kernels::laplace
