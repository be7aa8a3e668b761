#include "launch/pulse.hpp"

#include <utility>

namespace kumiki::launch {

/// Beats are counted and not seconds: whoever was stopped himself has missed none, however late it is.
void Pulse::start(Events& events, std::function<void()> beat, std::function<void()> silent) {
    const auto tick = [this, beat = std::move(beat), silent = std::move(silent)] {
        beat();
        if (missed_ >= 0 && ++missed_ > beats_per_timeout && ticker_.runs()) silent();
    };
    ticker_.start(events, std::chrono::nanoseconds(timeout_) / beats_per_timeout, tick);
}

} // namespace kumiki::launch
