#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kumiki::platform {

/// A network interface of this host and one of its addresses, as text.
struct Interface {
    std::string name, address;
    friend bool operator==(const Interface&, const Interface&) = default;
};

/// The interfaces that are up and lead to other hosts (not the loopback): one entry for each address, IPv4 and IPv6,
/// without addresses that are valid on one link only.
std::vector<Interface> interfaces();

/// Whether the interface of this name exists, is switched on, and has a link.
bool is_active(const std::string& interface);

/// The addresses of a list of interfaces, separated by blanks.
std::string addresses_of(const std::vector<Interface>& interfaces);

/// The address of this host from which the system would send to `address`; empty when there is no route. Sends nothing.
std::string source_towards(const std::string& address);

/// The ports of InfiniBand and RoCE adapters, as UCX names them ("mlx5_0:1").
std::vector<std::string> infiniband_ports();

/// The interface among `own` that reaches all `hosts`, each of which is given by its addresses, separated by blanks:
/// the route to at least one address of each host begins at this interface, according to `source` (source_towards). An
/// address that this host also has does not lead to another host (the bridge of a container system has the same address
/// everywhere). Returns the first of several such interfaces, and an empty text if there is none.
std::string interface_towards(const std::vector<std::string>& hosts, const std::vector<Interface>& own,
                              const std::function<std::string(const std::string&)>& source);

/// The devices through which a rank reaches `hosts`: that interface and the InfiniBand ports, separated by commas, as
/// the network engine expects them. Empty if no interface reaches all hosts: the engine then uses all devices.
std::string devices_towards(const std::vector<std::string>& hosts);

} // namespace kumiki::platform
