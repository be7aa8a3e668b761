#include "platform/futex.hpp"

#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace kumiki::platform {

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
    syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds limit) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
    return syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0) != 0 && errno == ETIMEDOUT;
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace kumiki::platform
