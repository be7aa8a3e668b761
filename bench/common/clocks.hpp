#pragma once

#include <time.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace kumiki::bench {

/// A clock that std::chrono does not have, or that processes of a host compare.
inline std::uint64_t nanoseconds(clockid_t clock) {
    timespec now{};
    if (clock_gettime(clock, &now) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot read the clock");
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace kumiki::bench
