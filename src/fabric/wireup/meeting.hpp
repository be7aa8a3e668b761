#pragma once

#include "error/result.hpp"
#include "fabric/wireup/exchange.hpp"
#include "fabric/wireup/wireup.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// How ranks that another launcher has started become a job. They tell who they are; each host's first rank makes the
/// memory of the host and tells where it is; the others map it; all tell how that went, so that either all ranks go on
/// or all say the same sentence. A fourth round, over several hosts, is the exchange of cards. Writes into the settings
/// what a launcher of ours would have told. Collective.
Result<OthersJob> meet(Exchange exchange, Settings& settings);

} // namespace kumiki::fabric
