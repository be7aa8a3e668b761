#pragma once

#include <atomic>
#include <cstdint>

namespace kumiki::platform {

/// Sleeps while `word` holds `expected`; may return early for no reason. Works across processes.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected);

/// Wakes all who sleep on `word`.
void futex_wake_all(const std::atomic<std::uint32_t>& word);

} // namespace kumiki::platform
