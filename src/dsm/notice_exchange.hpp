#pragma once

#include <span>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/notice.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::dsm {

/// Collective: every rank tells the others its notices at a barrier. Returns the notices of all ranks, by rank. The
/// first two of each rank travel with their number, so that few notices take one all-gather.
Result<std::vector<std::vector<Notice>>>
exchange_notices(const fabric::Fabric& fabric, collective::Collectives& collectives, std::span<const Notice> own);

} // namespace kumiki::dsm
