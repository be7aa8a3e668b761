#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>

namespace kumiki::tests {

/// How slow the build is: sanitizers make everything slower, so stress tests perform fewer rounds.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::size_t slowdown = 20;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t slowdown = 10;
#else
inline constexpr std::size_t slowdown = 1;
#endif
inline constexpr bool sanitized = slowdown > 1;

/// Whether the ranks of each job are on several hosts (ranks.hpp).
inline bool over_network() { return std::getenv("TEST_HOSTS") != nullptr; }

/// The number of rounds of a stress test in this build, which performs `plain` rounds in a plain build; over the
/// network each round takes longer.
inline std::size_t rounds(std::size_t plain) {
    return std::max<std::size_t>(1, plain / slowdown / (over_network() ? 20 : 1));
}

/// The number of random programs that a test runs in this build, of `plain` in a plain build. Each run of the tests has
/// others, and sanitizers look at every access of each, so few are enough there.
inline unsigned programs(unsigned plain) {
    return std::max(1U, plain / (sanitized ? 5 : 1) / (over_network() ? 2 : 1));
}

/// The time after which a stress test may end: on a machine that is busy with other things, thousands of rounds are
/// worth as much as a million.
class Enough {
public:
    explicit Enough(std::chrono::seconds time = std::chrono::seconds(3))
        : end_(std::chrono::steady_clock::now() + time) {}
    bool reached() const { return std::chrono::steady_clock::now() > end_; }

private:
    std::chrono::steady_clock::time_point end_;
};

} // namespace kumiki::tests
