#pragma once

#include <array>
#include <vector>

#include "error/result.hpp"

namespace kumiki::topology {

/// What cores can share, the nearest first.
enum class Domain { cache, memory, package };
inline constexpr std::array domains = {Domain::cache, Domain::memory, Domain::package};

/// A core that this process may use.
struct Core {
    std::vector<int>
        processors; ///< its hardware threads that this process may use, as the operating system numbers them
    std::array<int, domains.size()> domain = {}; ///< its last-level cache, memory node and package
    int number = 0; ///< among all cores of the machine, in the numbering of kumiki-topology

    int in(Domain kind) const { return domain[static_cast<std::size_t>(kind)]; }
};

/// The cores that this process may use; cores that share a cache, memory node or package are adjacent.
struct UsableCores {
    std::vector<Core> cores; ///< at least one
    /// How many of them can be kept busy at a time: fewer than `cores` if a cgroup limits the processor time.
    int budget = 1;
    /// False if HWLOC_SYNTHETIC or HWLOC_XMLFILE describes another machine, on which nothing can be bound.
    bool this_machine = true;
};

/// Reads the affinity mask and the cgroups of this process (taskset, cpusets, CPU quotas) and the machine's topology.
/// Must not be called while other threads use the environment.
Result<UsableCores> usable_cores();

/// Only the cores with these numbers. Fails if a number is not among them.
Result<UsableCores> restrict(UsableCores usable, const std::vector<int>& numbers);

/// The numbers of the cores, in ascending order.
std::vector<int> numbers_of(const std::vector<Core>& cores);

} // namespace kumiki::topology
