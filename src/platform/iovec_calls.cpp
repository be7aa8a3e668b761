// System calls that get their buffers as an array of addresses. A filter of system calls sees the address of that array
// only (system_call_trap.hpp), so these functions stand before those of the C library: the loader finds the ones of
// libkumiki first, for the program and for other libraries. They make the buffers accessible, and call the next
// function of the same name. In a process whose memory does not fault they cost one load. (Those of sockets are in
// message_calls.cpp.)
#include "platform/kernel_memory.hpp"
#include "platform/next_function.hpp"

// A function, its parameters, the names of these, and whether the kernel writes the pieces or reads them only.
#define KUMIKI_IOVEC_CALL(name, attempt, parameters, arguments)                                                        \
    ssize_t name parameters {                                                                                          \
        using namespace kumiki::platform;                                                                              \
        static auto* const after = next_function(&name, #name);                                                        \
        return kernel_memory::make([=] { return after arguments; },                                                    \
                                   kernel_memory::Pieces<Attempt::attempt>{pieces, static_cast<std::size_t>(count)});  \
    }

extern "C" {

#pragma GCC visibility push(default)

KUMIKI_IOVEC_CALL(readv, write, (int file, const iovec* pieces, int count), (file, pieces, count))
KUMIKI_IOVEC_CALL(writev, read, (int file, const iovec* pieces, int count), (file, pieces, count))
KUMIKI_IOVEC_CALL(preadv, write, (int file, const iovec* pieces, int count, off_t at), (file, pieces, count, at))
KUMIKI_IOVEC_CALL(pwritev, read, (int file, const iovec* pieces, int count, off_t at), (file, pieces, count, at))
KUMIKI_IOVEC_CALL(preadv64, write, (int file, const iovec* pieces, int count, off64_t at), (file, pieces, count, at))
KUMIKI_IOVEC_CALL(pwritev64, read, (int file, const iovec* pieces, int count, off64_t at), (file, pieces, count, at))

#pragma GCC visibility pop
}
