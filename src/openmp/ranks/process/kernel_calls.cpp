// Functions of the C library that give the kernel an address of the program. The kernel handles no faults of pages that
// are at another rank, but fails (EFAULT), so these functions stand before those of the C library and touch the memory
// first. A filter of system calls, as shared arrays have it, is not possible: the variables of the program lie at
// addresses that programs which it starts use, too, and they inherit the filter (docs/decisions/openmp-placement.md).
// Files of descriptors are in descriptor_calls.cpp, messages of sockets in platform/message_calls.cpp, calls that open
// streams in streams.cpp, chdir() in process_state.cpp, and getcwd() and scandir() in memory/returned_memory.cpp.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/process/descriptors.hpp"
#include "platform/kernel_memory.hpp"
#include "openmp/ranks/process/main_thread.hpp"
#include "openmp/ranks/process/streams.hpp"
#include "openmp/ranks/process/ties.hpp"
#include "platform/fault_signals.hpp"
#include "platform/memory.hpp"
#include "platform/next_function.hpp"

namespace {

using namespace kumiki::platform::kernel_memory;

mode_t mode_in(int flags, std::va_list rest) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; }

/// An argument of a call that gives the process something which it has until it closes it.
template <class Argument>
Argument tied(Argument argument) {
    kumiki::openmp::note_tie();
    return argument;
}

bool is_about_lock(int command) {
    switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return true;
    default: return false;
    }
}

} // namespace

// A function, its parameters, the names of these, and the memory that it gives to the kernel.
#define KUMIKI_CALL(result, name, parameters, arguments, ...)                                                          \
    KUMIKI_ENTRY result name parameters {                                                                              \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return make([=] { return after arguments; }, __VA_ARGS__);                                                     \
    }
#define KUMIKI_POINTER_CALL(result, name, parameters, arguments, ...)                                                  \
    KUMIKI_ENTRY result name parameters {                                                                              \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return make_pointer([=] { return after arguments; }, __VA_ARGS__);                                             \
    }
// -- data --

using Size = std::size_t;
KUMIKI_CALL(ssize_t, recv, (int socket, void* to, Size bytes, int flags), (socket, to, bytes, flags),
            Written{to, bytes})
KUMIKI_CALL(ssize_t, send, (int socket, const void* from, Size bytes, int flags), (socket, from, bytes, flags),
            Read{from, bytes})
KUMIKI_CALL(ssize_t, sendto,
            (int socket, const void* from, Size bytes, int flags, const sockaddr* to, socklen_t length),
            (socket, from, bytes, flags, to, length), Read{from, bytes}, Read{to, length})

KUMIKI_CALL(ssize_t, copy_file_range, (int in, off64_t* from, int out, off64_t* to, Size bytes, unsigned flags),
            (in, from, out, to, bytes, flags), written(from), written(to))
KUMIKI_CALL(ssize_t, sendfile, (int out, int in, off_t* from, Size bytes), (out, in, from, bytes), written(from))
KUMIKI_CALL(ssize_t, getrandom, (void* to, Size bytes, unsigned flags), (to, bytes, flags), Written{to, bytes})
KUMIKI_CALL(int, getentropy, (void* to, Size bytes), (to, bytes), Written{to, bytes})

// Streams pass long data on to the kernel. Texts have been read by the C library before it passes them on.
KUMIKI_POINTER_CALL(Size, fread, (void* to, Size bytes, Size count, FILE* stream), (to, bytes, count, stream),
                    Written{to, bytes * count})
KUMIKI_POINTER_CALL(Size, fwrite, (const void* from, Size bytes, Size count, FILE* stream),
                    (from, bytes, count, stream), Read{from, bytes * count})
KUMIKI_POINTER_CALL(Size, fread_unlocked, (void* to, Size bytes, Size count, FILE* stream), (to, bytes, count, stream),
                    Written{to, bytes * count})
KUMIKI_POINTER_CALL(Size, fwrite_unlocked, (const void* from, Size bytes, Size count, FILE* stream),
                    (from, bytes, count, stream), Read{from, bytes * count})

// The C library makes calls of its own with a stream's buffer. One that it allocates itself is never elsewhere.
KUMIKI_ENTRY int setvbuf(FILE* stream, char* buffer, int mode, Size bytes) {
    static auto* const after = kumiki::platform::next_function(&setvbuf, "setvbuf");
    if (kumiki::openmp::Streams::is_elsewhere(stream)) return 0; // its owner's buffer is that of the program
    return after(stream, kumiki::platform::memory_may_fault() ? nullptr : buffer, mode, bytes);
}
KUMIKI_ENTRY void setbuffer(FILE* stream, char* buffer, Size bytes) {
    setvbuf(stream, buffer, buffer == nullptr ? _IONBF : _IOFBF, bytes);
}
KUMIKI_ENTRY void setbuf(FILE* stream, char* buffer) { setbuffer(stream, buffer, BUFSIZ); }

// What a program calls that was built with _FORTIFY_SOURCE, as Ubuntu's compiler does; `whole` is its buffer's length.
KUMIKI_CALL(ssize_t, __recv_chk, (int socket, void* to, Size bytes, Size whole, int flags),
            (socket, to, bytes, whole, flags), Written{to, bytes})
KUMIKI_POINTER_CALL(Size, __fread_chk, (void* to, Size whole, Size bytes, Size count, FILE* stream),
                    (to, whole, bytes, count, stream), Written{to, bytes * count})
KUMIKI_POINTER_CALL(Size, __fread_unlocked_chk, (void* to, Size whole, Size bytes, Size count, FILE* stream),
                    (to, whole, bytes, count, stream), Written{to, bytes * count})
KUMIKI_POINTER_CALL(char*, __getcwd_chk, (char* to, Size bytes, Size whole), (to, bytes, whole), Written{to, bytes})
KUMIKI_CALL(ssize_t, __readlink_chk, (const char* path, char* to, Size bytes, Size whole), (path, to, bytes, whole),
            Text{path}, Written{to, bytes})
KUMIKI_CALL(int, __poll_chk, (pollfd * files, nfds_t count, int most, Size whole), (files, count, most, whole),
            Written{files, count * sizeof(pollfd)})
KUMIKI_CALL(int, __open_2, (const char* path, int flags), (tied(path), flags), Text{path})
KUMIKI_CALL(int, __open64_2, (const char* path, int flags), (tied(path), flags), Text{path})
KUMIKI_CALL(int, __openat_2, (int folder, const char* path, int flags), (tied(folder), path, flags), Text{path})
KUMIKI_CALL(int, __openat64_2, (int folder, const char* path, int flags), (tied(folder), path, flags), Text{path})

// -- files by their paths --

KUMIKI_ENTRY FILE* freopen(const char* path, const char* mode, FILE* stream) {
    static auto* const after = kumiki::platform::next_function(&freopen, "freopen");
    if (kumiki::openmp::Streams::is_elsewhere(stream)) kumiki::openmp::refuse_other_uses();
    return make_pointer([=] { return after(path, mode, stream); }, Text{path});
}
KUMIKI_POINTER_CALL(DIR*, opendir, (const char* path), (tied(path)), Text{path})
KUMIKI_CALL(int, chmod, (const char* path, mode_t mode), (path, mode), Text{path})
KUMIKI_CALL(int, link, (const char* from, const char* to), (from, to), Text{from}, Text{to})
KUMIKI_CALL(int, symlink, (const char* from, const char* to), (from, to), Text{from}, Text{to})
KUMIKI_CALL(int, statvfs, (const char* path, struct statvfs* to), (path, to), Text{path})
KUMIKI_CALL(int, statvfs64, (const char* path, struct statvfs64* to), (path, to), Text{path})
KUMIKI_CALL(int, creat, (const char* path, mode_t mode), (tied(path), mode), Text{path})
KUMIKI_CALL(int, access, (const char* path, int mode), (path, mode), Text{path})
KUMIKI_CALL(int, unlink, (const char* path), (path), Text{path})
KUMIKI_CALL(int, remove, (const char* path), (path), Text{path})
KUMIKI_CALL(int, rename, (const char* from, const char* to), (from, to), Text{from}, Text{to})
KUMIKI_CALL(int, mkdir, (const char* path, mode_t mode), (path, mode), Text{path})
KUMIKI_CALL(int, rmdir, (const char* path), (path), Text{path})
KUMIKI_CALL(int, truncate, (const char* path, off_t bytes), (path, bytes), Text{path})
KUMIKI_CALL(ssize_t, readlink, (const char* path, char* to, Size bytes), (path, to, bytes), Text{path},
            Written{to, bytes})
KUMIKI_CALL(int, stat, (const char* path, struct stat* to), (path, to), Text{path}, written(to))
KUMIKI_CALL(int, lstat, (const char* path, struct stat* to), (path, to), Text{path}, written(to))
KUMIKI_CALL(int, stat64, (const char* path, struct stat64* to), (path, to), Text{path}, written(to))
KUMIKI_CALL(int, lstat64, (const char* path, struct stat64* to), (path, to), Text{path}, written(to))

KUMIKI_CALL(int, fstatat, (int folder, const char* path, struct stat* to, int flags), (folder, path, to, flags),
            Text{path}, written(to))
KUMIKI_CALL(int, fstatat64, (int folder, const char* path, struct stat64* to, int flags), (folder, path, to, flags),
            Text{path}, written(to))
KUMIKI_CALL(int, statx, (int folder, const char* path, int flags, unsigned wanted, struct statx* to),
            (folder, path, flags, wanted, to), Text{path}, written(to))
KUMIKI_CALL(int, statfs, (const char* path, struct statfs* to), (path, to), Text{path}, written(to))
KUMIKI_CALL(int, statfs64, (const char* path, struct statfs64* to), (path, to), Text{path}, written(to))
KUMIKI_CALL(int, mkfifo, (const char* path, mode_t mode), (path, mode), Text{path})
KUMIKI_CALL(int, chown, (const char* path, uid_t user, gid_t group), (path, user, group), Text{path})
KUMIKI_CALL(int, lchown, (const char* path, uid_t user, gid_t group), (path, user, group), Text{path})
KUMIKI_CALL(int, utime, (const char* path, const utimbuf* times), (path, times), Text{path}, only_read(times))
KUMIKI_CALL(int, utimes, (const char* path, const timeval* times), (path, times), Text{path},
            Read{times, times == nullptr ? 0 : 2 * sizeof *times})
KUMIKI_CALL(int, utimensat, (int folder, const char* path, const timespec* times, int flags),
            (folder, path, times, flags), Text{path}, Read{times, times == nullptr ? 0 : 2 * sizeof *times})
KUMIKI_CALL(int, futimens, (int file, const timespec* times), (file, times),
            Read{times, times == nullptr ? 0 : 2 * sizeof *times})
KUMIKI_CALL(int, euidaccess, (const char* path, int mode), (path, mode), Text{path})
KUMIKI_CALL(int, eaccess, (const char* path, int mode), (path, mode), Text{path})
KUMIKI_CALL(int, faccessat, (int folder, const char* path, int mode, int flags), (folder, path, mode, flags),
            Text{path})
KUMIKI_CALL(int, fchmodat, (int folder, const char* path, mode_t mode, int flags), (folder, path, mode, flags),
            Text{path})
KUMIKI_CALL(int, mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode), Text{path})
KUMIKI_CALL(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags), Text{path})
KUMIKI_CALL(int, renameat, (int folder, const char* from, int other, const char* to), (folder, from, other, to),
            Text{from}, Text{to})
KUMIKI_CALL(ssize_t, readlinkat, (int folder, const char* path, char* to, Size bytes), (folder, path, to, bytes),
            Text{path}, Written{to, bytes})
KUMIKI_CALL(key_t, ftok, (const char* path, int number), (path, number), Text{path})
KUMIKI_CALL(int, truncate64, (const char* path, off64_t bytes), (path, bytes), Text{path})

#define KUMIKI_OPEN(name)                                                                                              \
    KUMIKI_ENTRY int name(const char* path, int flags, ...) {                                                          \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        std::va_list rest;                                                                                             \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = mode_in(flags, rest);                                                                      \
        va_end(rest);                                                                                                  \
        return make([=] { return after(tied(path), flags, mode); }, Text{path});                                       \
    }
KUMIKI_OPEN(open)
KUMIKI_OPEN(open64)
#define KUMIKI_OPEN_AT(name)                                                                                           \
    KUMIKI_ENTRY int name(int folder, const char* path, int flags, ...) {                                              \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        std::va_list rest;                                                                                             \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = mode_in(flags, rest);                                                                      \
        va_end(rest);                                                                                                  \
        return make([=] { return after(tied(folder), path, flags, mode); }, Text{path});                               \
    }
KUMIKI_OPEN_AT(openat)
KUMIKI_OPEN_AT(openat64)

// -- sockets --

KUMIKI_CALL(int, socketpair, (int domain, int type, int protocol, int* ends), (tied(domain), type, protocol, ends),
            Written{ends, 2 * sizeof(int)})
KUMIKI_CALL(int, bind, (int socket, const sockaddr* to, socklen_t length), (socket, to, length), Read{to, length})
KUMIKI_CALL(int, connect, (int socket, const sockaddr* to, socklen_t length), (socket, to, length), Read{to, length})
KUMIKI_CALL(int, accept, (int socket, sockaddr* from, socklen_t* length), (tied(socket), from, length), written(length),
            written(from, length))
KUMIKI_CALL(int, accept4, (int socket, sockaddr* from, socklen_t* length, int flags),
            (tied(socket), from, length, flags), written(length), written(from, length))
KUMIKI_CALL(int, getsockname, (int socket, sockaddr* to, socklen_t* length), (socket, to, length), written(length),
            written(to, length))
KUMIKI_CALL(int, getpeername, (int socket, sockaddr* to, socklen_t* length), (socket, to, length), written(length),
            written(to, length))
KUMIKI_CALL(int, getsockopt, (int socket, int level, int option, void* to, socklen_t* length),
            (socket, level, option, to, length), written(length), written(to, length))
KUMIKI_CALL(int, setsockopt, (int socket, int level, int option, const void* from, socklen_t length),
            (socket, level, option, from, length), Read{from, length})
KUMIKI_CALL(ssize_t, recvfrom, (int socket, void* to, Size bytes, int flags, sockaddr* from, socklen_t* length),
            (socket, to, bytes, flags, from, length), Written{to, bytes}, written(length), written(from, length))

// -- with an argument whose type the request decides --

KUMIKI_ENTRY int ioctl(int file, unsigned long request, ...) {
    static auto* const after = kumiki::platform::next_function(&ioctl, "ioctl");
    constexpr Size longest_old = 64; // requests from before their numbers told the length
    std::va_list rest;
    va_start(rest, request);
    void* const argument = va_arg(rest, void*);
    va_end(rest);
    return make([=] { return after(file, request, argument); },
                Written{argument, std::max<Size>(_IOC_SIZE(request), longest_old)});
}

#define KUMIKI_FILE_CONTROL(name, lock)                                                                                \
    KUMIKI_ENTRY int name(int file, int command, ...) {                                                                \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        std::va_list rest;                                                                                             \
        va_start(rest, command);                                                                                       \
        void* const argument = va_arg(rest, void*);                                                                    \
        va_end(rest);                                                                                                  \
        return make([=] { return after(file, command, argument); },                                                    \
                    Written{argument, is_about_lock(command) ? sizeof(struct lock) : 0});                              \
    }
KUMIKI_FILE_CONTROL(fcntl, flock)
KUMIKI_FILE_CONTROL(fcntl64, flock64)

// -- times, limits, processes --

KUMIKI_CALL(int, getitimer, (__itimer_which_t which, itimerval* to), (which, to), written(to))
KUMIKI_CALL(int, setitimer, (__itimer_which_t which, const itimerval* from, itimerval* before), (which, from, before),
            only_read(from), written(before))
KUMIKI_CALL(int, sigpending, (sigset_t * to), (to), written(to))
KUMIKI_CALL(int, sigaltstack, (const stack_t* from, stack_t* before), (from, before), only_read(from), written(before))
KUMIKI_CALL(int, prlimit, (pid_t process, __rlimit_resource which, const rlimit* from, rlimit* before),
            (process, which, from, before), only_read(from), written(before))
KUMIKI_CALL(int, sysinfo, (struct sysinfo * to), (to), written(to))
KUMIKI_CALL(int, sched_getparam, (pid_t thread, sched_param* to), (thread, to), written(to))
KUMIKI_CALL(int, sched_setparam, (pid_t thread, const sched_param* from), (thread, from), only_read(from))
KUMIKI_CALL(int, sched_setscheduler, (pid_t thread, int policy, const sched_param* from), (thread, policy, from),
            only_read(from))
KUMIKI_CALL(int, mincore, (void* begin, Size bytes, unsigned char* to), (begin, bytes, to),
            Written{to, bytes / kumiki::platform::page_size() + 1})
KUMIKI_CALL(int, pipe2, (int* ends, int flags), (tied(ends), flags), Written{ends, 2 * sizeof(int)})
KUMIKI_CALL(int, epoll_ctl, (int set, int operation, int file, epoll_event* event), (set, operation, file, event),
            written(event))
KUMIKI_CALL(int, epoll_wait, (int set, epoll_event* to, int count, int most), (set, to, count, most),
            Written{to, count < 0 ? 0 : static_cast<Size>(count) * sizeof *to})
// These return what has failed. Programs ask for the version of the C library with which they were linked.
#define KUMIKI_AFFINITY(own_name, name, version, set, memory)                                                          \
    KUMIKI_ENTRY int own_name(pthread_t thread, Size bytes, set* at) {                                                 \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return make_pointer([=] { return after(kumiki::openmp::meant_by(thread), bytes, at); }, memory{at, bytes});    \
    }                                                                                                                  \
    __asm__(".symver " #own_name ", " #name "@" version ", remove");
KUMIKI_AFFINITY(kumiki_get_affinity, pthread_getaffinity_np, "GLIBC_2.32", cpu_set_t, Written)
KUMIKI_AFFINITY(kumiki_old_get_affinity, pthread_getaffinity_np, "GLIBC_2.3.4", cpu_set_t, Written)
KUMIKI_AFFINITY(kumiki_set_affinity, pthread_setaffinity_np, "GLIBC_2.34", const cpu_set_t, Read)
KUMIKI_AFFINITY(kumiki_old_set_affinity, pthread_setaffinity_np, "GLIBC_2.3.4", const cpu_set_t, Read)

/// The runtime itself asks often.
KUMIKI_ENTRY int clock_gettime(clockid_t clock, timespec* to) noexcept {
    static auto* const after = kumiki::platform::next_function(&clock_gettime, "clock_gettime");
    return make_quickly([=] { return after(clock, to); }, written(to));
}
KUMIKI_CALL(clock_t, times, (tms * to), (to), written(to))
KUMIKI_CALL(int, getrusage, (__rusage_who_t who, rusage* to), (who, to), written(to))
KUMIKI_CALL(int, getrlimit, (__rlimit_resource_t which, rlimit* to), (which, to), written(to))
KUMIKI_CALL(int, setrlimit, (__rlimit_resource_t which, const rlimit* from), (which, from), only_read(from))
KUMIKI_CALL(int, sched_getaffinity, (pid_t thread, Size bytes, cpu_set_t* to), (thread, bytes, to), Written{to, bytes})
KUMIKI_CALL(int, sched_setaffinity, (pid_t thread, Size bytes, const cpu_set_t* from), (thread, bytes, from),
            Read{from, bytes})
KUMIKI_CALL(int, uname, (utsname * to), (to), written(to))
KUMIKI_CALL(int, pipe, (int* ends), (tied(ends)), Written{ends, 2 * sizeof(int)})
KUMIKI_CALL(int, poll, (pollfd * files, nfds_t count, int most), (files, count, most),
            Written{files, count * sizeof(pollfd)})
KUMIKI_CALL(int, select, (int count, fd_set* input, fd_set* output, fd_set* errors, timeval* most),
            (count, input, output, errors, most), written(input), written(output), written(errors), written(most))
KUMIKI_CALL(pid_t, waitpid, (pid_t child, int* status, int options), (child, status, options), written(status))
KUMIKI_CALL(int, system, (const char* command), (command), Text{command}, Environment{})
