#pragma once

#include <string>
#include <vector>

#include "error/result.hpp"
#include "topology/machine.hpp"

namespace kumiki::topology {

class HwlocTopology;

/// The accelerators and displays of the machine, in the order of the bus; those that compute come first. Drivers and
/// programming interfaces each have a name of their own for a device; these names are one entry.
std::vector<Accelerator> accelerators_of(const HwlocTopology& topology);

/// The accelerators of this machine (or of the one that hwloc's variables describe) that compute, in the order of their
/// numbers. Slow: hwloc asks every driver.
Result<std::vector<Accelerator>> computing_accelerators();

} // namespace kumiki::topology
