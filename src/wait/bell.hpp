#pragma once

#include <atomic>
#include <cstdint>

#include "platform/memory.hpp"

namespace kumiki::wait {

/// Where sleepers are woken. Whoever makes a condition true rings the bell of those who may wait for it; that costs one
/// load of a line that is seldom written, unless somebody really sleeps. Lives in memory that all who use it share;
/// zeros are a silent bell.
struct alignas(platform::apart) Bell {
    std::atomic<std::uint32_t> sleepers; ///< threads that sleep or are about to
    std::atomic<std::uint32_t> rings;    ///< the futex word: changes when sleepers must look again
};

} // namespace kumiki::wait
