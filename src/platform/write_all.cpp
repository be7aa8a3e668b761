#include "platform/write_all.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kumiki::platform {
namespace {

/// Calls `write_some` with what is left until nothing is left.
template <class WriteSome>
bool repeat(int descriptor, std::span<const std::byte> left, WriteSome write_some) {
    while (!left.empty()) {
        const ssize_t written = write_some(left);
        if (written >= 0) left = left.subspan(static_cast<std::size_t>(written));
        else if (errno == EAGAIN) {
            pollfd event{.fd = descriptor, .events = POLLOUT, .revents = 0};
            poll(&event, 1, -1);
        } else if (errno != EINTR) return false;
    }
    return true;
}

} // namespace

bool write_all(int descriptor, std::string_view bytes) {
    return repeat(descriptor, std::as_bytes(std::span(bytes)),
                  [&](auto left) { return write(descriptor, left.data(), left.size()); });
}

bool write_all_at(int descriptor, std::string_view bytes, off64_t offset) {
    const auto end = offset + static_cast<off64_t>(bytes.size());
    return repeat(descriptor, std::as_bytes(std::span(bytes)), [&](auto left) {
        return pwrite64(descriptor, left.data(), left.size(), end - static_cast<off64_t>(left.size()));
    });
}

bool send_all(int socket, std::span<const std::byte> bytes) {
    return repeat(socket, bytes, [&](auto left) { return send(socket, left.data(), left.size(), MSG_NOSIGNAL); });
}

} // namespace kumiki::platform
