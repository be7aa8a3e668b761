#include "openmp/ranks/process/standard_output.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

namespace kumiki::openmp {
namespace {

/// The C library's own buffer would cut lines of more than 4096 bytes.
std::array<char, std::size_t{64} << 10> buffer; // NOLINT: the C library uses it until the process ends

} // namespace

StandardOutput::StandardOutput(int marks, int unread, const std::atomic<std::uint32_t>& is_read)
    : marks_(marks), unread_(unread), is_read_(is_read) {
    for (const int descriptor : {marks, unread}) // programs that this one starts have no place of their own
        if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    if (__fbufsize(stdout) == 0) std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size()); // it has not been used yet
}

void StandardOutput::begin_lines() {
    const bool is_buffered = __fbufsize(stdout) > 1 && __flbf(stdout) == 0;
    if (is_buffered && !std::exchange(has_begun_, true)) std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

void StandardOutput::end_lines() {
    if (std::exchange(has_begun_, false) && __flbf(stdout) != 0) std::setvbuf(stdout, nullptr, _IOFBF, 0);
}

/// The launcher sets is_read_ before it reads. One call for both streams, because every release asks; epoll_wait()
/// would be that of this library, which does more for the program.
bool StandardOutput::has_place() const {
    epoll_event ready{};
    return epoll_pwait(unread_, &ready, 1, 0, nullptr) == 0 && is_read_.load() == 0;
}

void StandardOutput::take_place() {
    if (marks_ < 0) return;
    const std::lock_guard lock(mutex_);
    if (has_place()) return;
    char mark = 0;
    const auto is_interrupted = [](ssize_t result) { return result < 0 && errno == EINTR; };
    while (is_interrupted(write(marks_, &mark, 1))) {}
    while (is_interrupted(read(marks_, &mark, 1))) {}
}

} // namespace kumiki::openmp
