#pragma once

#include "collective/collectives.hpp"
#include "error/result.hpp"
#include "explain/record.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::dsm {

/// Collective, before the ranks leave: ends their records, and brings those of ranks whose hosts do not have the folder
/// of rank 0 there. What rank 0 cannot write is lost; the tool says whose record is missing. All ranks have a record,
/// or none, where this does nothing.
Result<> collect_records(const fabric::Fabric& fabric, collective::Collectives& collectives, explain::Record* record);

} // namespace kumiki::dsm
