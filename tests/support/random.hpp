#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "platform/thread.hpp"

namespace kumiki::tests {

/// A test's own random generator: the same seed gives the same test.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// A whole number from `low` to `high`, inclusive.
    template <class T>
    T between(T low, T high) {
        return static_cast<T>(std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(low),
                                                                          static_cast<std::int64_t>(high))(engine_));
    }
    /// True once in `times` on average.
    bool once_in(int times) { return between(1, times) == 1; }
    std::uint64_t word() { return engine_(); }
    void fill(std::span<std::byte> bytes) {
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine_());
    }

private:
    std::mt19937_64 engine_;
};

/// Keeps the processor busy for a while, like a computation.
inline void compute_for(std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) platform::relax();
}

} // namespace kumiki::tests
