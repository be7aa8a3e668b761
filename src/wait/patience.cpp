#include "wait/patience.hpp"

#include <algorithm>

#include "platform/fence.hpp"

namespace kumiki::wait {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

Patience patience(const Settings& settings) {
    constexpr auto for_ever = nanoseconds::max();
    constexpr auto not_at_all = nanoseconds::zero();
    Patience made;
    made.crowded = settings.crowded;
    switch (settings.wait) {
    case WaitPolicy::spin: made.spin = made.yield = for_ever; break;
    case WaitPolicy::yield:
        made.spin = not_at_all;
        made.yield = for_ever;
        break;
    case WaitPolicy::sleep: made.spin = made.yield = not_at_all; break;
    case WaitPolicy::adaptive:
        // A thread that has a core to itself does not yield it, because another user's program might then keep the core
        // for milliseconds.
        made.spin = settings.crowded ? not_at_all : microseconds(settings.spin_us);
        made.yield = settings.crowded ? microseconds(settings.yield_us) : made.spin;
        break;
    }
    // In a crowded job most waits end in sleep; a fence in each ring is then cheaper than a system call in each sleep.
    made.free_rings = !settings.crowded && platform::join_fences();
    return made;
}

Patience crowded(Patience patience) {
    patience.crowded = true;
    if (patience.spin == nanoseconds::max()) return patience; // as the user requested
    patience.spin = nanoseconds::zero();                      // instead it yields for as long as it would have spun
    return patience;
}

bool sleeps(const Patience& patience) { return patience.yield != nanoseconds::max(); }

Patience until_doubt(Patience patience) {
    if (sleeps(patience)) return patience;
    constexpr nanoseconds long_time = std::chrono::milliseconds(10);
    patience.spin = std::min(patience.spin, long_time);
    patience.yield = long_time;
    return patience;
}

Patience asleep(Patience patience) {
    patience.spin = patience.yield = nanoseconds::zero();
    return patience;
}

} // namespace kumiki::wait
