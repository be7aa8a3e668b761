#pragma once

#include <cstdint>
#include <vector>

#include "kernels/crews/crew.hpp"

namespace kumiki::kernels {

/// Every worker's value, by index, at all workers. This takes a sum for each of them, so it is for checks, which are
/// not timed.
template <CrewWorker W>
std::vector<std::uint64_t> gathered(W& worker, int workers, std::uint64_t value) {
    std::vector<std::uint64_t> all;
    for (int index = 0; index < workers; ++index) all.push_back(worker.sum(index == worker.index() ? value : 0));
    return all;
}

} // namespace kumiki::kernels
