// Functions of the C library that use the file of a descriptor, which another process may have opened. As in
// kernel_calls.cpp, what they give to the kernel is accessed first.
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "openmp/entry/entry.hpp"
#include "openmp/ranks/process/descriptors.hpp"
#include "openmp/ranks/process/remote_files.hpp"
#include "openmp/ranks/process/streams.hpp"
#include "platform/kernel_memory.hpp"
#include "platform/next_function.hpp"

namespace {

using kumiki::openmp::RemoteFiles;
using kumiki::openmp::Streams;
using namespace kumiki::platform::kernel_memory;
using Size = std::size_t;

/// What a call returns, unless the file is one that another process has opened. (Of the descriptor that stands for it
/// here, fstatfs() knows something.)
template <class Result>
Result unless_elsewhere(int file, Result result) {
    if (result == 0 || (result < 0 && errno == EBADF)) kumiki::openmp::refuse_file_elsewhere(file);
    return result;
}

/// Makes a call for a file of this process; if there is none with this number, calls elsewhere(files), for one of
/// another process. A call that succeeds leaves errno as it was.
template <class Call, class Elsewhere>
auto make_anywhere(Call call, Elsewhere elsewhere) {
    const int before = errno;
    auto result = call();
    RemoteFiles* const files = result < 0 && errno == EBADF ? Streams::remote_files() : nullptr;
    if (files == nullptr) return result;
    result = elsewhere(*files);
    if (result >= 0) errno = before;
    return result;
}

/// Whether what has this number here only stands for a file of another process.
bool is_elsewhere(int file) { return Streams::remote_files() != nullptr && Streams::is_elsewhere(file); }
int fails() {
    errno = EBADF;
    return -1;
}

ssize_t read_elsewhere(RemoteFiles& files, int file, std::span<const iovec> to, std::optional<off64_t> at) {
    return files.read(file, to, at);
}
ssize_t write_elsewhere(RemoteFiles&, int file, std::span<const iovec> from, std::optional<off64_t> at) {
    return Streams::write(file, from, at);
}

std::array<iovec, 1> all_of(const void* from, std::size_t bytes) { return {{{const_cast<void*>(from), bytes}}}; }
std::span<const iovec> all_of(const iovec* from, int count) { return {from, static_cast<std::size_t>(count)}; }

} // namespace

// A function whose first parameter is a descriptor `file`, its parameters, the names of these, and the memory that it
// gives to the kernel.
#define KUMIKI_FILE_CALL(result, name, parameters, arguments, ...)                                                     \
    KUMIKI_ENTRY result name parameters {                                                                              \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return unless_elsewhere(file, make([=] { return after arguments; }, __VA_ARGS__));                             \
    }
// One that transfers between a `file` and memory in one or more pieces, which the kernel accesses by `attempt`, at an
// offset, or where the file is.
#define KUMIKI_TRANSFER_CALL(name, attempt, transfer_elsewhere, parameters, arguments, memory, ...)                    \
    KUMIKI_ENTRY ssize_t name parameters {                                                                             \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        const auto all = all_of memory;                                                                                \
        const auto call = [&] {                                                                                        \
            return make([=] { return after arguments; },                                                               \
                        Pieces<kumiki::platform::Attempt::attempt>{all.data(), all.size()});                           \
        };                                                                                                             \
        if (file == STDIN_FILENO) return unless_elsewhere(file, call());                                               \
        return make_anywhere(call, [&](RemoteFiles& files) {                                                           \
            return transfer_elsewhere(files, file, all, std::optional<off64_t>(__VA_ARGS__));                          \
        });                                                                                                            \
    }
#define KUMIKI_READ_CALL(name, ...) KUMIKI_TRANSFER_CALL(name, write, read_elsewhere, __VA_ARGS__)
#define KUMIKI_WRITE_CALL(name, ...) KUMIKI_TRANSFER_CALL(name, read, write_elsewhere, __VA_ARGS__)
// One that moves it.
#define KUMIKI_MOVE_CALL(name, type)                                                                                   \
    KUMIKI_ENTRY type name(int file, type to, int from) noexcept {                                                     \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return make_anywhere([=] { return after(file, to, from); },                                                    \
                             [=](RemoteFiles& files) { return files.move(file, to, from); });                          \
    }
// One that tells what it knows of it. Of the descriptor that stands for it here, the kernel knows something. (A stat64
// has the form of a stat.)
#define KUMIKI_DESCRIBE_CALL(name, type)                                                                               \
    KUMIKI_ENTRY int name(int file, struct type* to) noexcept {                                                        \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        const auto call = [=] {                                                                                        \
            return is_elsewhere(file) ? fails() : make([=] { return after(file, to); }, written(to));                  \
        };                                                                                                             \
        return make_anywhere(                                                                                          \
            call, [=](RemoteFiles& files) { return files.describe(file, *reinterpret_cast<struct stat*>(to)); });      \
    }

KUMIKI_READ_CALL(read, (int file, void* to, Size bytes), (file, to, bytes), (to, bytes))
KUMIKI_READ_CALL(pread, (int file, void* to, Size bytes, off_t at), (file, to, bytes, at), (to, bytes), at)
KUMIKI_READ_CALL(pread64, (int file, void* to, Size bytes, off64_t at), (file, to, bytes, at), (to, bytes), at)
KUMIKI_READ_CALL(readv, (int file, const iovec* to, int count), (file, to, count), (to, count))
KUMIKI_READ_CALL(preadv, (int file, const iovec* to, int count, off_t at), (file, to, count, at), (to, count), at)
KUMIKI_READ_CALL(preadv64, (int file, const iovec* to, int count, off64_t at), (file, to, count, at), (to, count), at)
KUMIKI_WRITE_CALL(write, (int file, const void* from, Size bytes), (file, from, bytes), (from, bytes))
KUMIKI_WRITE_CALL(pwrite, (int file, const void* from, Size bytes, off_t at), (file, from, bytes, at), (from, bytes),
                  at)
KUMIKI_WRITE_CALL(pwrite64, (int file, const void* from, Size bytes, off64_t at), (file, from, bytes, at),
                  (from, bytes), at)
KUMIKI_WRITE_CALL(writev, (int file, const iovec* from, int count), (file, from, count), (from, count))
KUMIKI_WRITE_CALL(pwritev, (int file, const iovec* from, int count, off_t at), (file, from, count, at), (from, count),
                  at)
KUMIKI_WRITE_CALL(pwritev64, (int file, const iovec* from, int count, off64_t at), (file, from, count, at),
                  (from, count), at)
KUMIKI_MOVE_CALL(lseek, off_t)
KUMIKI_MOVE_CALL(lseek64, off64_t)
KUMIKI_ENTRY int close(int file) {
    static auto* const after = kumiki::platform::next_function(&close, "close");
    return make_anywhere([=] { return is_elsewhere(file) ? fails() : after(file); },
                         [=](RemoteFiles& files) { return files.close(file); });
}

// What a program calls that was built with _FORTIFY_SOURCE, as Ubuntu's compiler does; `whole` is its buffer's length.
KUMIKI_READ_CALL(__read_chk, (int file, void* to, Size bytes, Size whole), (file, to, bytes, whole), (to, bytes))
KUMIKI_READ_CALL(__pread_chk, (int file, void* to, Size bytes, off_t at, Size whole), (file, to, bytes, at, whole),
                 (to, bytes), at)
KUMIKI_READ_CALL(__pread64_chk, (int file, void* to, Size bytes, off64_t at, Size whole), (file, to, bytes, at, whole),
                 (to, bytes), at)

KUMIKI_DESCRIBE_CALL(fstat, stat)
KUMIKI_DESCRIBE_CALL(fstat64, stat64)
KUMIKI_FILE_CALL(int, fstatfs, (int file, struct statfs* to), (file, to), written(to))
KUMIKI_FILE_CALL(int, fstatfs64, (int file, struct statfs64* to), (file, to), written(to))
