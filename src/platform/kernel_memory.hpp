#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "platform/fault_signals.hpp"

/// Memory of the program whose address a function of the C library gives to the kernel, which handles no faults of its
/// pages, but fails (EFAULT).
namespace kumiki::platform::kernel_memory {

/// Memory that the kernel writes, or reads only.
template <Attempt attempt>
struct Memory {
    const void* begin;
    std::size_t bytes;
    bool touch(KernelAccess& access) const {
        return access.touch({static_cast<const std::byte*>(begin), bytes}, attempt);
    }
};
using Written = Memory<Attempt::write>;
using Read = Memory<Attempt::read>;
template <class T>
Written written(const T* at) {
    return {at, at == nullptr ? 0 : sizeof(T)};
}
template <class T>
Read only_read(const T* at) {
    return {at, at == nullptr ? 0 : sizeof(T)};
}
/// Memory in pieces. More than the kernel takes are left to it to refuse.
template <Attempt attempt>
struct Pieces {
    const iovec* pieces;
    std::size_t count;
    bool touch(KernelAccess& access) const {
        if (count > UIO_MAXIOV) return false;
        bool repaired = false;
        for (const iovec& piece : std::span(pieces, count))
            repaired |= Memory<attempt>{piece.iov_base, piece.iov_len}.touch(access);
        return repaired;
    }
};
inline Pieces<Attempt::write> written(const iovec* pieces, int count) {
    return {pieces, static_cast<std::size_t>(count)};
}
/// A socket's address or option, as long as its caller says.
inline Written written(const void* at, const socklen_t* length) {
    return {at, at == nullptr || length == nullptr ? 0 : *length};
}
struct Text {
    const char* text;
    bool touch(KernelAccess& access) const {
        return text != nullptr && Read{text, std::strlen(text) + 1}.touch(access);
    }
};
/// What programs that this one starts get besides.
struct Environment {
    static bool touch(KernelAccess& access) {
        bool repaired = false;
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
            repaired |= Text{*entry}.touch(access);
        return repaired;
    }
};

/// Makes a call, and again for as long as it fails because of memory that can be repaired.
template <class Call, class... Memory>
auto repeat(KernelAccess& access, Call call, Memory... memory) {
    auto result = call();
    while (result == decltype(result)(-1) && errno == EFAULT && (static_cast<int>(memory.touch(access)) | ... | 0) != 0)
        result = call();
    return result;
}

/// Makes a call with this memory, for which it is accessed first. While it waits, another thread may make pages
/// inaccessible, by releasing a lock. The call that then fails is repeated, but not if there was nothing to repair:
/// then its failure is the program's.
template <class Call, class... Memory>
auto make(Call call, Memory... memory) {
    if (!memory_may_fault()) [[likely]]
        return call();
    KernelAccess access;
    (static_cast<void>(memory.touch(access)), ...);
    return repeat(access, call, memory...);
}
/// The same for a call that seldom reaches the kernel, which then writes all or nothing, as one that tells the time:
/// the memory is accessed only if it has failed.
template <class Call, class... Memory>
auto make_quickly(Call call, Memory... memory) {
    KernelAccess access;
    return repeat(access, call, memory...);
}
/// The same for functions that return a pointer, which is null where they fail.
template <class Call, class... Memory>
auto make_pointer(Call call, Memory... memory) {
    KernelAccess access;
    if (memory_may_fault()) (static_cast<void>(memory.touch(access)), ...);
    return call();
}

} // namespace kumiki::platform::kernel_memory
