#pragma once

#include "error/result.hpp"
#include "fabric/wireup/exchange.hpp"
#include "fabric/wireup/wireup.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// How ranks that another launcher has started become a job. They introduce themselves; each host's first rank makes
/// the memory of the host and tells where it is; the others map it; all tell whether that worked, so that either all
/// ranks go on or all fail with the same sentence. A fourth round, over several hosts, is the exchange of cards. Writes
/// into the settings what kumiki-run would have set. Collective.
Result<OthersJob> meet(Exchange exchange, Settings& settings);

} // namespace kumiki::fabric
