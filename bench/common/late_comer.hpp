#pragma once

#include <chrono>

#include "measure/sampling.hpp"

namespace kumiki::bench {

/// When a party entered a barrier and when it left, in seconds of the host's steady clock.
struct Passage {
    double came, went;
};

inline double host_seconds() { return std::chrono::duration<double>(measure::Clock::now().time_since_epoch()).count(); }

/// How late the late party enters, in seconds.
inline constexpr double usual_delay = 50e-6;

/// Passes a barrier, late if `late`. A barrier is correct if no party leaves before the last one has entered.
template <class Barrier>
Passage pass(bool late, Barrier&& barrier, double delay = usual_delay) {
    Passage passage{host_seconds(), 0};
    while (late && host_seconds() < passage.came + delay) {}
    passage.came = host_seconds();
    barrier();
    passage.went = host_seconds();
    return passage;
}

} // namespace kumiki::bench
