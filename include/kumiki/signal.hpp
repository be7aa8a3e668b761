#pragma once

#include <cstdint>

#include "kumiki/kumiki.h"

namespace kumiki {

/// A signal is a 64-bit word in a region: `Region<Signal>`, or a member next to the data that it announces, so that
/// both travel in one cache line.
using Signal = std::uint64_t;

enum class SignalOperation { set = KUMIKI_SIGNAL_SET, add = KUMIKI_SIGNAL_ADD };

enum class Comparison {
    equal = KUMIKI_EQUAL,
    not_equal = KUMIKI_NOT_EQUAL,
    at_least = KUMIKI_AT_LEAST,
    less = KUMIKI_LESS,
};

} // namespace kumiki
