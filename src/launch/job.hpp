#pragma once

#include <string>
#include <vector>

#include "launch/options.hpp"
#include "launch/placement.hpp"
#include "settings/settings.hpp"

namespace kumiki::launch {

/// One parallel run, decided in every respect: what the front and the keeper carry out.
struct Job {
    Options options;
    Settings settings;
    Placement placement;

    int ranks() const { return options.ranks; }
    int threads() const { return settings.threads; }
};

} // namespace kumiki::launch
