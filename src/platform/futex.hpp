#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kumiki::platform {

/// Sleeps while `word` is equal to `expected`; may also return early without a reason. Works across processes.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected);

/// The same for at most `limit`; returns true when the limit has passed.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds limit);

/// Wakes all threads that sleep on `word`.
void futex_wake_all(const std::atomic<std::uint32_t>& word);

} // namespace kumiki::platform
