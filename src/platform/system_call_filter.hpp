#pragma once

#include <cstdint>

#include "error/result.hpp"

namespace kumiki::platform {

/// SIGSYS of this filter has this number in its si_errno.
constexpr int filter_mark = 0x4b75;

/// Upper halves of addresses; both ends are included.
struct UpperHalves {
    std::uint32_t first, last;
};

/// From now on a system call of any thread of this process raises SIGSYS if an argument is an address in this range,
/// except SystemCall::repeat(). See system_call_trap.hpp.
Result<> install_system_call_filter(UpperHalves range);

} // namespace kumiki::platform
