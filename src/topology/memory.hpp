#pragma once

#include <filesystem>
#include <vector>

#include "topology/machine.hpp"

namespace kumiki::topology {

/// Adds to the nodes of this machine the memory that its kernel has not prepared yet. A kernel that prepares pages when
/// they are first needed (deferred initialisation, usual where virtual machines shall start fast) counts only the
/// prepared ones in a node, which is what hwloc reads, and all of them in the machine's total. What the nodes lack of
/// the total is divided among them by the blocks of memory that each has. `root` is the folder that holds proc and sys.
void count_unprepared(std::vector<MemoryNode>& nodes, const std::filesystem::path& root = "/");

} // namespace kumiki::topology
