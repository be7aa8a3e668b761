#pragma once

#include <chrono>

#include "settings/settings.hpp"

namespace kumiki::wait {

/// How this process waits: the settings, resolved once for the machine that it runs on.
struct Patience {
    std::chrono::nanoseconds spin{};  ///< then it yields
    std::chrono::nanoseconds yield{}; ///< after spinning and yielding for so long together it sleeps
    bool crowded = false;    ///< more threads than cores: who waits by spinning keeps another from what he waits for
    bool free_rings = false; ///< ringing a bell needs no fence; see ring()
};

/// Reads the policy. All processes that share bells must get the same answer, as they do on one host with one job's
/// settings.
Patience patience(const Settings& settings);

/// The same policy among more threads than there are cores.
Patience crowded(Patience patience);

/// Whether who waits falls asleep at last.
bool sleeps(const Patience& patience);

/// The part of the policy after which who waits may ask whether it waits in vain.
Patience until_doubt(Patience patience);

/// The same policy for a thread that must not take time from computing threads while it waits (an agent): sleeps at
/// once.
Patience asleep(Patience patience);

} // namespace kumiki::wait
