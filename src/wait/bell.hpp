#pragma once

#include <atomic>
#include <cstdint>

#include "platform/memory.hpp"

namespace kumiki::wait {

/// A place where threads sleep and are woken. A thread that makes a condition true rings the bell of those that may
/// wait for it; that costs one load of a line that is seldom written, unless a thread really sleeps. A bell lives in
/// memory that all its users share; memory of zeros is a bell without sleepers.
struct alignas(platform::apart) Bell {
    std::atomic<std::uint32_t> sleepers; ///< threads that sleep or are about to
    std::atomic<std::uint32_t> rings;    ///< the futex word: changes when sleepers must look again
};

} // namespace kumiki::wait
