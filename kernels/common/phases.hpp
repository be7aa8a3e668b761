#pragma once

#include <array>
#include <cstddef>

#include "measure/sampling.hpp"

namespace kumiki::kernels {

/// What a thread of a kernel can be busy with. (The COMPaS paper tells computation and communication apart.)
enum class Phase { computation, communication, synchronisation };
inline constexpr std::size_t phase_count = 3;

/// Sums up how long one thread, usually the master, spent in each phase. A change of phase costs one clock read, 20 ns.
class Phases {
public:
    /// Ends the phase under way, if any, and begins this one.
    void enter(Phase phase) {
        const auto now = measure::Clock::now();
        book(now);
        current_ = static_cast<std::size_t>(phase);
        since_ = now;
    }
    /// Ends the phase under way; time until the next enter() belongs to no phase.
    void stop() {
        book(measure::Clock::now());
        current_ = phase_count;
    }
    double seconds(Phase phase) const {
        return std::chrono::duration<double>(spent_[static_cast<std::size_t>(phase)]).count();
    }

private:
    void book(measure::Clock::time_point now) {
        if (current_ != phase_count) spent_[current_] += now - since_;
    }

    std::array<measure::Clock::duration, phase_count> spent_{};
    std::size_t current_ = phase_count;
    measure::Clock::time_point since_{};
};

} // namespace kumiki::kernels
