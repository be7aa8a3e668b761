#pragma once

#include "error/result.hpp"
#include "fabric/wireup/exchange.hpp"
#include "fabric/wireup/wireup.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// Forms a job of ranks that another launcher has started. The ranks introduce themselves; the first rank of each host
/// creates the memory of the host and tells where it is; the others map it; and all report whether that worked, so that
/// either all ranks continue or all fail with the same sentence. With several hosts, a fourth round exchanges the
/// cards. Writes into the settings what kumiki-run would have set. Collective.
Result<OthersJob> meet(Exchange exchange, Settings& settings);

} // namespace kumiki::fabric
