#pragma once

#include <array>
#include <vector>

#include "error/result.hpp"

namespace kumiki::topology {

/// What cores can share, nearest first.
enum class Domain { cache, memory, package };
inline constexpr std::array domains = {Domain::cache, Domain::memory, Domain::package};

/// A core that this process may use.
struct Core {
    std::vector<int> processors; ///< its hardware threads that this process may use, by the system's numbers
    std::array<int, domains.size()> domain = {}; ///< which last-level cache, memory node and package it belongs to
    int number = 0;                              ///< among all cores of the machine, as kumiki-topology counts them

    int in(Domain kind) const { return domain[static_cast<std::size_t>(kind)]; }
};

/// The cores that this process may use, cores that share a cache, memory node or package side by side.
struct UsableCores {
    std::vector<Core> cores; ///< at least one
    /// How many of them can be kept busy at a time: fewer than `cores` when a cgroup limits the processor time.
    int budget = 1;
    /// False when HWLOC_SYNTHETIC or HWLOC_XMLFILE describes another machine, where nothing can be bound.
    bool this_machine = true;
};

/// Reads the affinity mask and the cgroups of this process (taskset, cpusets, CPU quotas) and the machine's topology.
/// Must not be called while other threads use the environment.
Result<UsableCores> usable_cores();

/// Only those of the cores that have these numbers. Fails when one is not among them.
Result<UsableCores> restrict(UsableCores usable, const std::vector<int>& numbers);

/// The numbers of the cores, ascending.
std::vector<int> numbers_of(const std::vector<Core>& cores);

} // namespace kumiki::topology
