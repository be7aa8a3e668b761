#pragma once

#include <chrono>
#include <iosfwd>

namespace kumiki::linpack {

/// Tells how far a run is and how long it will take, at most once a second.
class Progress {
public:
    explicit Progress(std::ostream& out) : out_(out) {}
    /// `share` of the work, 0 .. 1, is done.
    void operator()(double share);

private:
    using Clock = std::chrono::steady_clock;
    std::ostream& out_;
    Clock::time_point start_ = Clock::now(), told_ = start_;
};

} // namespace kumiki::linpack
