#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct sockaddr;

namespace kumiki::platform {

/// The address without its port, as text; empty when it is not an IPv4 or IPv6 address.
std::string text_of(const sockaddr* address);

/// The TCP ports on which this process listens.
std::vector<std::uint16_t> listening_ports();

/// A connection that another process has made.
struct Connection {
    int descriptor;   ///< of this process
    std::string peer; ///< the address of the other side, as text
};

/// The TCP connections of this process to its own `ports`. Reads the table of descriptors: tens of microseconds.
std::vector<Connection> connections_to(const std::vector<std::uint16_t>& ports);

/// Ends a connection in both directions. Its owner keeps the descriptor, and sees the end of the connection.
void cut(const Connection& connection);

} // namespace kumiki::platform
