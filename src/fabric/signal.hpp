#pragma once

#include <atomic>
#include <cstdint>

#include "kumiki/kumiki.h"

namespace kumiki::fabric {

/// Release order: who sees the signal sees what this thread wrote before. A region is shared with ranks that access it
/// by atomics only where signals are concerned.
inline void raise(std::atomic_ref<std::uint64_t> word, kumiki_signal_operation operation, std::uint64_t value) {
    if (operation == KUMIKI_SIGNAL_ADD) word.fetch_add(value, std::memory_order_release);
    else word.store(value, std::memory_order_release);
}

} // namespace kumiki::fabric
