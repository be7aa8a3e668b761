#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kumiki/kumiki.hpp"

namespace kumiki::linpack {

/// Has the system provide the memory of a region here, and map what of it this process reads at `peers` (ranks of this
/// host), so that a run does not wait for page faults: those of the panels alone took 4 % of a run of N = 4000.
/// Collective over the job.
template <class Ranks>
void prefault(Job& job, Region<double>& region, const Ranks& peers) {
    constexpr std::size_t page = 4096 / sizeof(double);
    std::fill_n(region.data(), region.size(), 0.0);
    job.barrier();
    for (const int peer : peers) {
        const std::span<const double> there = region.at(peer);
        for (std::size_t i = 0; i < there.size(); i += page)
            static_cast<void>(*static_cast<const volatile double*>(&there[i]));
    }
}

} // namespace kumiki::linpack
