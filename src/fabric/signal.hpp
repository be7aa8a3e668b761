#pragma once

#include <atomic>
#include <cstdint>

#include "kumiki/types.h"

namespace kumiki::fabric {

/// Release order: a thread that sees the signal also sees everything this thread wrote before. Among the data of a
/// region, only signals are accessed by atomics, hence the atomic_ref.
inline void raise(std::atomic_ref<std::uint64_t> word, kumiki_signal_operation operation, std::uint64_t value) {
    if (operation == KUMIKI_SIGNAL_ADD) word.fetch_add(value, std::memory_order_release);
    else word.store(value, std::memory_order_release);
}

} // namespace kumiki::fabric
