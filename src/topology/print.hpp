#pragma once

#include <string>

#include "topology/machine.hpp"

namespace kumiki::topology {

/// The machine as a tree for human readers.
std::string as_text(const Machine& machine);

/// The machine as one JSON object; docs/topology.md names its fields.
std::string as_json(const Machine& machine);

} // namespace kumiki::topology
