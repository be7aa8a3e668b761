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
/// without addresses that have a meaning on one link only.
std::vector<Interface> interfaces();

/// The addresses of a list of interfaces, with a blank between any two.
std::string addresses_of(const std::vector<Interface>& interfaces);

/// The address of this host from which the system would send to `address`; empty when there is no route. Sends nothing.
std::string source_towards(const std::string& address);

/// The ports of InfiniBand and RoCE cards, as UCX names them ("mlx5_0:1").
std::vector<std::string> infiniband_ports();

/// The interface among `own` that reaches all `hosts`, each of which is given by its addresses with blanks between
/// them: the route to at least one address of each host begins there, as `source` tells (source_towards). An address
/// that this host has as well leads to no other host (the bridge of a container system is the same everywhere). Returns
/// the first of several such interfaces, and an empty text when there is none.
std::string interface_towards(const std::vector<std::string>& hosts, const std::vector<Interface>& own,
                              const std::function<std::string(const std::string&)>& source);

/// The devices that a rank has to use to reach `hosts`: that interface and the InfiniBand ports, with commas between
/// them, as the network engine takes them. Empty when no interface reaches all hosts: then the engine uses all devices.
std::string devices_towards(const std::vector<std::string>& hosts);

} // namespace kumiki::platform
