#pragma once

#include <chrono>

#include "settings/settings.hpp"

namespace kumiki::wait {

/// How this process waits: the settings, resolved once for the machine on which it runs.
struct Patience {
    std::chrono::nanoseconds spin{};  ///< how long a thread spins before it yields
    std::chrono::nanoseconds yield{}; ///< how long it spins and yields, together, before it sleeps
    bool crowded = false;    ///< more threads than cores: a thread that spins may hold up the one for which it waits
    bool free_rings = false; ///< ringing a bell needs no fence; see ring()
};

/// Reads the policy. All processes that share bells must get the same answer, as they do on one host with one job's
/// settings.
Patience patience(const Settings& settings);

/// The same policy when there are more threads than cores.
Patience crowded(Patience patience);

/// Whether a waiting thread eventually falls asleep.
bool sleeps(const Patience& patience);

/// The part of the policy after which a waiting thread may check whether its condition can still become true.
Patience until_doubt(Patience patience);

/// The same policy for a thread that must not take time from computing threads while it waits (an agent): it sleeps at
/// once.
Patience asleep(Patience patience);

} // namespace kumiki::wait
