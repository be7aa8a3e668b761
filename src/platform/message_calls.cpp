// Calls of sockets that get their buffers as an array of addresses, as iovec_calls.cpp has them for files.
#include <algorithm>
#include <span>
#include <sys/socket.h>

#include "platform/kernel_memory.hpp"
#include "platform/next_function.hpp"

namespace {

using kumiki::platform::Attempt;
using kumiki::platform::KernelAccess;
using namespace kumiki::platform::kernel_memory;

/// The data, and what is beside them.
template <Attempt attempt>
struct Message {
    const msghdr* message;
    bool touch(KernelAccess& access) const {
        bool repaired = Pieces<attempt>{message->msg_iov, message->msg_iovlen}.touch(access);
        repaired |= Written{message->msg_name, message->msg_namelen}.touch(access);
        repaired |= Written{message->msg_control, message->msg_controllen}.touch(access);
        return repaired;
    }
};

template <Attempt attempt>
struct Messages {
    const mmsghdr* messages;
    unsigned count;
    bool touch(KernelAccess& access) const {
        bool repaired = false;
        for (const mmsghdr& message : std::span(messages, std::min<unsigned>(count, UIO_MAXIOV)))
            repaired |= Message<attempt>{&message.msg_hdr}.touch(access);
        return repaired;
    }
};

} // namespace

// A function, its parameters, the names of these, and the memory that it gives to the kernel.
#define KUMIKI_MESSAGE_CALL(result, name, parameters, arguments, ...)                                                  \
    result name parameters {                                                                                           \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        return make([=] { return after arguments; }, __VA_ARGS__);                                                     \
    }

extern "C" {

#pragma GCC visibility push(default)

KUMIKI_MESSAGE_CALL(ssize_t, sendmsg, (int socket, const msghdr* message, int flags), (socket, message, flags),
                    Message<Attempt::read>{message})
KUMIKI_MESSAGE_CALL(ssize_t, recvmsg, (int socket, msghdr* message, int flags), (socket, message, flags),
                    Message<Attempt::write>{message})
KUMIKI_MESSAGE_CALL(int, sendmmsg, (int socket, mmsghdr* messages, unsigned count, int flags),
                    (socket, messages, count, flags), Messages<Attempt::read>{messages, count})
KUMIKI_MESSAGE_CALL(int, recvmmsg, (int socket, mmsghdr* messages, unsigned count, int flags, timespec* timeout),
                    (socket, messages, count, flags, timeout), Messages<Attempt::write>{messages, count})

#pragma GCC visibility pop
}
