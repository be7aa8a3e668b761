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
};

} // namespace kumiki::launch
