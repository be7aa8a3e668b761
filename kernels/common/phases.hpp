#pragma once

#include <array>
#include <cstddef>

#include "measure/sampling.hpp"

namespace kumiki::kernels {

/// The activities of a thread of a kernel. (The COMPaS paper distinguishes computation and communication.)
enum class Phase { computation, communication, synchronisation };
inline constexpr std::size_t phase_count = 3;

/// Sums up how long one thread, usually the master, has spent in each of `count` parts of its work. A change of part
/// costs one clock read, 20 ns.
template <class Part, std::size_t count>
class Stopwatch {
public:
    /// Ends the present part, if any, and begins this one.
    void enter(Part part) {
        const auto now = measure::Clock::now();
        book(now);
        current_ = static_cast<std::size_t>(part);
        since_ = now;
    }
    /// Ends the present part; the time until the next enter() belongs to no part.
    void stop() {
        book(measure::Clock::now());
        current_ = count;
    }
    double seconds(Part part) const {
        return std::chrono::duration<double>(spent_[static_cast<std::size_t>(part)]).count();
    }

private:
    void book(measure::Clock::time_point now) {
        if (current_ != count) spent_[current_] += now - since_;
    }

    std::array<measure::Clock::duration, count> spent_{};
    std::size_t current_ = count;
    measure::Clock::time_point since_{};
};

using Phases = Stopwatch<Phase, phase_count>;

} // namespace kumiki::kernels
