#pragma once

#include <chrono>

#include "settings/settings.hpp"

namespace kumiki::wait {

/// How this process waits: the settings, resolved once for the machine that it runs on.
struct Patience {
    std::chrono::nanoseconds spin{};  ///< how long a thread spins before it yields
    std::chrono::nanoseconds yield{}; ///< how long it spins and yields, together, before it sleeps
    bool crowded = false; ///< more threads than cores: a thread that spins keeps another from doing what it waits for
    bool free_rings = false; ///< ringing a bell needs no fence; see ring()
};

/// Reads the policy. All processes that share bells must get the same answer, as they do on one host with one job's
/// settings.
Patience patience(const Settings& settings);

/// The same policy among more threads than there are cores.
Patience crowded(Patience patience);

/// Whether a thread that waits falls asleep at last.
bool sleeps(const Patience& patience);

/// The part of the policy after which a thread that waits may ask whether it waits in vain.
Patience until_doubt(Patience patience);

/// The same policy for a thread that must not take time from computing threads while it waits (an agent): sleeps at
/// once.
Patience asleep(Patience patience);

} // namespace kumiki::wait
