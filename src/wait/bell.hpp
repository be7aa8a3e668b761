#pragma once

#include <atomic>
#include <cstdint>

#include "platform/memory.hpp"

namespace kumiki::wait {

/// An object on which threads sleep and are woken. A thread that makes a condition true rings the bell of those that
/// may wait for it; this costs one load of a line that is rarely written, unless a thread really sleeps. A bell is in
/// memory that all its users share; memory of zeros is a bell without sleepers.
struct alignas(platform::apart) Bell {
    std::atomic<std::uint32_t> sleepers; ///< threads that sleep or are about to do so
    std::atomic<std::uint32_t> rings;    ///< the futex word: it changes when sleepers must check again
};

} // namespace kumiki::wait
