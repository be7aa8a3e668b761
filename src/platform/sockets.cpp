#include "platform/sockets.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <filesystem>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

namespace kumiki::platform {
namespace {

std::uint16_t port_of(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    return 0;
}

/// Calls use(descriptor, listens, own port) for each TCP socket of this process.
template <class Use>
void for_each_socket(Use use) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
        const std::string name = entry.path().filename().string();
        int descriptor = -1;
        std::from_chars(name.data(), name.data() + name.size(), descriptor);
        int kind = 0, listens = 0;
        socklen_t length = sizeof kind;
        if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) != 0 || kind != SOCK_STREAM) continue;
        length = sizeof listens;
        sockaddr_storage own{};
        socklen_t own_length = sizeof own;
        if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 ||
            getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_length) != 0)
            continue;
        if (const auto port = port_of(own); port != 0) use(descriptor, listens != 0, port);
    }
}

} // namespace

std::string text_of(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text.data(), text.size());
    if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text.data(), text.size());
    return text.data();
}

std::vector<std::uint16_t> listening_ports() {
    std::vector<std::uint16_t> ports;
    for_each_socket([&](int, bool listens, std::uint16_t port) {
        if (listens) ports.push_back(port);
    });
    return ports;
}

std::vector<Connection> connections_to(const std::vector<std::uint16_t>& ports) {
    std::vector<Connection> found;
    for_each_socket([&](int descriptor, bool listens, std::uint16_t port) {
        if (listens || std::ranges::find(ports, port) == ports.end()) return;
        sockaddr_storage peer{};
        socklen_t length = sizeof peer;
        if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0)
            found.push_back({descriptor, text_of(reinterpret_cast<const sockaddr*>(&peer))});
    });
    return found;
}

void cut(const Connection& connection) { shutdown(connection.descriptor, SHUT_RDWR); }

} // namespace kumiki::platform
