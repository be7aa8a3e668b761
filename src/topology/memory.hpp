#pragma once

#include <filesystem>
#include <vector>

#include "topology/machine.hpp"

namespace kumiki::topology {

/// Adds to the nodes of this machine the memory that its kernel has not initialised yet. A kernel that initialises
/// pages when they are first needed (deferred initialisation, usual for virtual machines that start fast) counts only
/// initialised pages in a node, which is the number that hwloc reads, but all pages in the machine's total. The
/// difference is divided among the nodes in proportion to their memory blocks. `root` is the folder that contains proc
/// and sys.
void count_unprepared(std::vector<MemoryNode>& nodes, const std::filesystem::path& root = "/");

} // namespace kumiki::topology
