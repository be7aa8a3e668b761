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
/// here, fstat() knows something.)
template <class Result>
Result unless_elsewhere(int file, Result result) {
    if (result == 0 || (result < 0 && errno == EBADF)) kumiki::openmp::refuse_file_elsewhere(file);
    return result;
}

/// Null if a call has not failed because no file of this process has the descriptor.
RemoteFiles* elsewhere_after(long result) { return result < 0 && errno == EBADF ? Streams::remote_files() : nullptr; }

/// What calls return that can be made for a file of another process, too.
ssize_t or_read_elsewhere(ssize_t result, int file, std::span<const iovec> to, std::optional<off64_t> at = {}) {
    if (file == STDIN_FILENO) return unless_elsewhere(file, result);
    RemoteFiles* const files = elsewhere_after(result);
    return files != nullptr ? files->read(file, to, at) : result;
}
off64_t or_move_elsewhere(off64_t result, int file, off64_t offset, int whence) {
    RemoteFiles* const files = elsewhere_after(result);
    return files != nullptr ? files->move(file, offset, whence) : result;
}

/// Of the descriptor that stands for it here, the kernel knows something.
int or_describe_elsewhere(int result, int file, void* status) {
    RemoteFiles* const files = result == 0 || errno == EBADF ? Streams::remote_files() : nullptr;
    if (files == nullptr || !Streams::is_elsewhere(file)) return result;
    return files->describe(file, *static_cast<struct stat*>(status)); // also a stat64, which has the same form
}

/// What a call that writes returns, which can also write to a file that another process has opened.
ssize_t or_write_elsewhere(ssize_t result, int file, std::span<const iovec> from, std::optional<off64_t> at = {}) {
    return result < 0 && errno == EBADF ? Streams::write(file, from, at) : result;
}

std::array<iovec, 1> all_of(const void* from, std::size_t bytes) { return {{{const_cast<void*>(from), bytes}}}; }
std::span<const iovec> all_of(const iovec* from, int count) { return {from, static_cast<std::size_t>(count)}; }

} // namespace

// The same for a function whose first parameter is a descriptor `file`.
#define KUMIKI_FILE_CALL(result, name, parameters, arguments, ...)                                                     \
    KUMIKI_ENTRY result name parameters {                                                                              \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return unless_elsewhere(file, make([=] { return after arguments; }, __VA_ARGS__));                             \
    }
// The same for one that reads a `file` to memory in one or more pieces, also one that another process has opened; at an
// offset, or where the file is.
#define KUMIKI_READ_CALL(name, parameters, arguments, memory, ...)                                                     \
    KUMIKI_ENTRY ssize_t name parameters {                                                                             \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        const auto all = all_of memory;                                                                                \
        const auto result =                                                                                            \
            make([=] { return after arguments; }, Pieces<kumiki::platform::Attempt::write>{all.data(), all.size()});   \
        return or_read_elsewhere(result, file, all __VA_OPT__(, ) __VA_ARGS__);                                        \
    }
// The same for a function that writes to a `file`, from memory in one or more pieces; at an offset, or where the file
// is.
#define KUMIKI_WRITE_CALL(name, parameters, arguments, memory, ...)                                                    \
    KUMIKI_ENTRY ssize_t name parameters {                                                                             \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        const auto all = all_of memory;                                                                                \
        const auto result =                                                                                            \
            make([=] { return after arguments; }, Pieces<kumiki::platform::Attempt::read>{all.data(), all.size()});    \
        return or_write_elsewhere(result, file, all __VA_OPT__(, ) __VA_ARGS__);                                       \
    }
// The same for one that tells what it knows of a `file`.
#define KUMIKI_DESCRIBE_CALL(name, type)                                                                               \
    KUMIKI_ENTRY int name(int file, struct type* to) noexcept {                                                        \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        const int result = make([=] { return after(file, to); }, written(to));                                         \
        return or_describe_elsewhere(result, file, to);                                                                \
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
KUMIKI_ENTRY off_t lseek(int file, off_t to, int from) noexcept {
    static auto* const after = kumiki::platform::next_function(&lseek, "lseek");
    return or_move_elsewhere(after(file, to, from), file, to, from);
}
KUMIKI_ENTRY off64_t lseek64(int file, off64_t to, int from) noexcept {
    static auto* const after = kumiki::platform::next_function(&lseek64, "lseek64");
    return or_move_elsewhere(after(file, to, from), file, to, from);
}
/// The number may stand for the file of another process here.
KUMIKI_ENTRY int close(int file) {
    static auto* const after = kumiki::platform::next_function(&close, "close");
    RemoteFiles* const files = Streams::remote_files();
    return files != nullptr && Streams::is_elsewhere(file) ? files->close(file) : after(file);
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
