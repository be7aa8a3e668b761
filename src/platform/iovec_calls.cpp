// System calls that get their buffers as an array of addresses. A filter of system calls sees the address of that array
// only (system_call_trap.hpp), so these functions stand before those of the C library: the loader finds the ones of
// libkumiki first, for the program and for other libraries. They make the buffers accessible, and call the next
// function of the same name. In a process whose memory does not fault they cost one load.
#include <algorithm>
#include <cerrno>
#include <span>
#include <sys/socket.h>
#include <sys/uio.h>

#include "platform/fault_signals.hpp"
#include "platform/next_function.hpp"

namespace {

using kumiki::platform::Attempt;
using kumiki::platform::KernelAccess;

bool touch(KernelAccess& access, const void* begin, std::size_t bytes, Attempt attempt) {
    return access.touch({static_cast<const std::byte*>(begin), bytes}, attempt);
}

bool touch(KernelAccess& access, const iovec* pieces, std::size_t count, Attempt attempt) {
    if (count > UIO_MAXIOV) return false; // the kernel refuses it
    bool repaired = false;
    for (const iovec& piece : std::span(pieces, count))
        repaired |= touch(access, piece.iov_base, piece.iov_len, attempt);
    return repaired;
}

/// The data, and what is beside them.
bool touch(KernelAccess& access, const msghdr* message, Attempt attempt) {
    bool repaired = touch(access, message->msg_iov, message->msg_iovlen, attempt);
    repaired |= touch(access, message->msg_name, message->msg_namelen, Attempt::write);
    repaired |= touch(access, message->msg_control, message->msg_controllen, Attempt::write);
    return repaired;
}

bool touch(KernelAccess& access, const mmsghdr* messages, unsigned count, Attempt attempt) {
    bool repaired = false;
    for (const mmsghdr& message : std::span(messages, std::min<unsigned>(count, UIO_MAXIOV)))
        repaired |= touch(access, &message.msg_hdr, attempt);
    return repaired;
}

/// Makes the call, and repeats it as on_trap() does in system_call_trap.cpp. `touch` accesses the buffers.
template <class Call, class Touch>
auto make(Call call, Touch touch) {
    if (!kumiki::platform::memory_may_fault()) [[likely]]
        return call();
    KernelAccess access;
    touch(access);
    auto result = call();
    while (result < 0 && errno == EFAULT && touch(access)) result = call();
    return result;
}

} // namespace

#define KUMIKI_STANDS_BEFORE(name) static auto* const after = kumiki::platform::next_function(&name, #name)

extern "C" {

#pragma GCC visibility push(default)

ssize_t readv(int file, const iovec* pieces, int count) {
    KUMIKI_STANDS_BEFORE(readv);
    return make(
        [=] { return after(file, pieces, count); },
        [=](KernelAccess& access) { return touch(access, pieces, static_cast<std::size_t>(count), Attempt::write); });
}

ssize_t writev(int file, const iovec* pieces, int count) {
    KUMIKI_STANDS_BEFORE(writev);
    return make(
        [=] { return after(file, pieces, count); },
        [=](KernelAccess& access) { return touch(access, pieces, static_cast<std::size_t>(count), Attempt::read); });
}

ssize_t preadv(int file, const iovec* pieces, int count, off_t offset) {
    KUMIKI_STANDS_BEFORE(preadv);
    return make(
        [=] { return after(file, pieces, count, offset); },
        [=](KernelAccess& access) { return touch(access, pieces, static_cast<std::size_t>(count), Attempt::write); });
}

ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
    KUMIKI_STANDS_BEFORE(pwritev);
    return make(
        [=] { return after(file, pieces, count, offset); },
        [=](KernelAccess& access) { return touch(access, pieces, static_cast<std::size_t>(count), Attempt::read); });
}

ssize_t preadv64(int file, const iovec* pieces, int count, off64_t offset) {
    return preadv(file, pieces, count, offset);
}

ssize_t pwritev64(int file, const iovec* pieces, int count, off64_t offset) {
    return pwritev(file, pieces, count, offset);
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
    KUMIKI_STANDS_BEFORE(sendmsg);
    return make([=] { return after(socket, message, flags); },
                [=](KernelAccess& access) { return touch(access, message, Attempt::read); });
}

ssize_t recvmsg(int socket, msghdr* message, int flags) {
    KUMIKI_STANDS_BEFORE(recvmsg);
    return make([=] { return after(socket, message, flags); },
                [=](KernelAccess& access) { return touch(access, message, Attempt::write); });
}

int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
    KUMIKI_STANDS_BEFORE(sendmmsg);
    return make([=] { return after(socket, messages, count, flags); },
                [=](KernelAccess& access) { return touch(access, messages, count, Attempt::read); });
}

int recvmmsg(int socket, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
    KUMIKI_STANDS_BEFORE(recvmmsg);
    return make([=] { return after(socket, messages, count, flags, timeout); },
                [=](KernelAccess& access) { return touch(access, messages, count, Attempt::write); });
}

#pragma GCC visibility pop
}
