#pragma once

#include <vector>

#include "launch/command/placement.hpp"
#include "topology/machine.hpp"

namespace kumiki::launch {

/// The value of an environment variable, or null when it is not set.
using Lookup = const char* (*)(const char* name);

/// Gives ranks the devices that are requested for them. A request for several ranks together is divided among them in
/// blocks, without the devices that a rank has for itself; ranks share devices if there are fewer devices than ranks.
/// `placement` has a place for each of `ranks`; `devices` are those of the machine. A variable such as
/// CUDA_VISIBLE_DEVICES that is already set (by a batch system) limits the devices, and its entries are their handles.
/// Fails if a device does not exist.
Result<> give_devices(Placement& placement, const std::vector<RankRequest>& ranks,
                      const std::vector<topology::Accelerator>& devices, Lookup lookup);

/// Gives ranks that have been placed the devices of this machine that are requested for them; hwloc searches for
/// devices only if some are requested.
Result<> find_devices(Placement& placement, const std::vector<RankRequest>& ranks);

/// place(), and find_devices().
Result<Placement> place_with_devices(const topology::UsableCores& usable, const std::vector<RankRequest>& ranks,
                                     Binding bind);

} // namespace kumiki::launch
