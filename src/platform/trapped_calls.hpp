#pragma once

#include <cstdint>
#include <initializer_list>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "platform/fault_signals.hpp"
#include "platform/system_call.hpp"

namespace kumiki::platform {

/// A system call whose arguments in certain places are addresses of memory that the kernel reads or writes. What is in
/// the registers of other arguments may look like an address, and means nothing.
struct TrappedCall {
    static constexpr std::uint8_t none = SystemCall::argument_count;

    std::uint32_t number;
    std::uint8_t addresses; ///< a bit for each of these places

    /// The argument at `buffer` is the address of as many units as the one at `length` says. At every other address the
    /// kernel may write something short: a structure, a path or a set.
    std::uint8_t buffer = none, length = none, unit = 1;
    Attempt attempt = Attempt::write; ///< what the kernel does with the buffer

    bool is_address(std::size_t argument) const { return (addresses >> argument & 1) != 0; }
};

constexpr TrappedCall trapped(long number, std::initializer_list<int> addresses) {
    TrappedCall call{static_cast<std::uint32_t>(number), 0};
    for (const int place : addresses) call.addresses = static_cast<std::uint8_t>(call.addresses | 1 << place);
    return call;
}

constexpr TrappedCall trapped(long number, std::initializer_list<int> addresses, int buffer, int length,
                              Attempt attempt, std::size_t unit = 1) {
    TrappedCall call = trapped(number, addresses);
    call.buffer = static_cast<std::uint8_t>(buffer);
    call.length = static_cast<std::uint8_t>(length);
    call.unit = static_cast<std::uint8_t>(unit);
    call.attempt = attempt;
    return call;
}

/// The frequent ones come first, because the filter compares one after another. A call that is not here takes nothing
/// from the filter, and fails with EFAULT as without it.
constexpr TrappedCall trapped_calls[] = {
    trapped(SYS_read, {1}, 1, 2, Attempt::write),
    trapped(SYS_write, {1}, 1, 2, Attempt::read),
    trapped(SYS_futex, {0}),
    trapped(SYS_recvfrom, {1, 4, 5}, 1, 2, Attempt::write),
    trapped(SYS_sendto, {1, 4}, 1, 2, Attempt::read),
    trapped(SYS_pread64, {1}, 1, 2, Attempt::write),
    trapped(SYS_pwrite64, {1}, 1, 2, Attempt::read),
    trapped(SYS_readv, {1}, 1, 2, Attempt::read, sizeof(iovec)),
    trapped(SYS_writev, {1}, 1, 2, Attempt::read, sizeof(iovec)),
    trapped(SYS_preadv, {1}, 1, 2, Attempt::read, sizeof(iovec)),
    trapped(SYS_pwritev, {1}, 1, 2, Attempt::read, sizeof(iovec)),
    trapped(SYS_recvmsg, {1}),
    trapped(SYS_sendmsg, {1}),
    trapped(SYS_epoll_pwait, {1, 4}, 1, 2, Attempt::write, sizeof(epoll_event)),
    trapped(SYS_ppoll, {0, 2, 3}, 0, 1, Attempt::write, sizeof(pollfd)),
    trapped(SYS_ioctl, {2}),
    trapped(SYS_getrandom, {0}, 0, 1, Attempt::write),
    trapped(SYS_getdents64, {1}, 1, 2, Attempt::write),
    trapped(SYS_getcwd, {0}, 0, 1, Attempt::write),
    // files by their paths
    trapped(SYS_openat, {1}),
    trapped(SYS_fstat, {1}),
    trapped(SYS_newfstatat, {1, 2}),
    trapped(SYS_statx, {1, 4}),
    trapped(SYS_statfs, {0, 1}),
    trapped(SYS_fstatfs, {1}),
    trapped(SYS_faccessat, {1}),
    trapped(SYS_unlinkat, {1}),
    trapped(SYS_renameat2, {1, 3}),
    trapped(SYS_mkdirat, {1}),
    trapped(SYS_readlinkat, {1, 2}, 2, 3, Attempt::write),
    trapped(SYS_utimensat, {1, 2}),
    trapped(SYS_truncate, {0}),
    trapped(SYS_chdir, {0}),
    trapped(SYS_execve, {0, 1, 2}),
    trapped(SYS_sendfile, {2}),
    trapped(SYS_copy_file_range, {1, 3}),
    trapped(SYS_splice, {1, 3}),
    // sockets and pipes
    trapped(SYS_pipe2, {0}),
    trapped(SYS_socketpair, {3}),
    trapped(SYS_bind, {1}),
    trapped(SYS_connect, {1}),
    trapped(SYS_accept, {1, 2}),
    trapped(SYS_accept4, {1, 2}),
    trapped(SYS_getsockname, {1, 2}),
    trapped(SYS_getpeername, {1, 2}),
    trapped(SYS_getsockopt, {3, 4}),
    trapped(SYS_setsockopt, {3}),
    trapped(SYS_epoll_ctl, {3}),
    trapped(SYS_pselect6, {1, 2, 3, 4, 5}),
    // signals, processes and times
    trapped(SYS_rt_sigprocmask, {1, 2}),
    trapped(SYS_rt_sigaction, {1, 2}),
    trapped(SYS_rt_sigtimedwait, {0, 1, 2}),
    trapped(SYS_wait4, {1, 3}),
    trapped(SYS_waitid, {2, 4}),
    trapped(SYS_nanosleep, {0, 1}),
    trapped(SYS_clock_nanosleep, {2, 3}),
    trapped(SYS_clock_gettime, {1}),
    trapped(SYS_getrusage, {1}),
    trapped(SYS_prlimit64, {2, 3}),
    trapped(SYS_sched_getaffinity, {2}),
    trapped(SYS_sched_setaffinity, {2}),
    trapped(SYS_uname, {0}),
    trapped(SYS_sysinfo, {0}),
// The older forms, which new kinds of processors do not have.
#if defined(SYS_open)
    trapped(SYS_epoll_wait, {1}, 1, 2, Attempt::write, sizeof(epoll_event)),
    trapped(SYS_poll, {0}, 0, 1, Attempt::write, sizeof(pollfd)),
    trapped(SYS_select, {1, 2, 3, 4}),
    trapped(SYS_open, {0}),
    trapped(SYS_stat, {0, 1}),
    trapped(SYS_lstat, {0, 1}),
    trapped(SYS_access, {0}),
    trapped(SYS_unlink, {0}),
    trapped(SYS_rename, {0, 1}),
    trapped(SYS_mkdir, {0}),
    trapped(SYS_rmdir, {0}),
    trapped(SYS_readlink, {0, 1}, 1, 2, Attempt::write),
    trapped(SYS_pipe, {0}),
#endif
};

} // namespace kumiki::platform
