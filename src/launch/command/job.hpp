#pragma once

#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "launch/command/placement.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// One parallel run, or one host's share of it, with everything decided, so that a supervisor and its host daemon can
/// carry it out.
struct Job {
    Options options;
    Settings settings;
    Share share;
    Placement placement;      ///< of the ranks of this host
    std::vector<int> threads; ///< of every rank of the whole job

    int ranks() const { return share.ranks; } ///< on this host
    /// Whether what its ranks print one after the other must be printed in this order.
    bool orders_output() const { return options.openmp && share.size > 1; }
};

} // namespace kumiki::launch
