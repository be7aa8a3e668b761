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

/// Those that are up and lead to other hosts (not the loopback); one entry for each address, IPv4 and IPv6, without
/// those that mean something on one link only.
std::vector<Interface> interfaces();

/// The addresses of a list of interfaces, with a blank between any two.
std::string addresses_of(const std::vector<Interface>& interfaces);

/// The own address from which the system would send to `address`; empty when there is no way. Sends nothing.
std::string source_towards(const std::string& address);

/// The ports of InfiniBand and RoCE cards, as UCX names them ("mlx5_0:1").
std::vector<std::string> infiniband_ports();

/// The one of `own` by which all `hosts` are reached, each given by its addresses with blanks between them: that is,
/// the way to at least one address of each begins there, as `source` tells (source_towards). An address that this host
/// has, too, leads to no other one (the bridge of a container system is the same everywhere). Of several such
/// interfaces the first. Empty when there is none.
std::string interface_towards(const std::vector<std::string>& hosts, const std::vector<Interface>& own,
                              const std::function<std::string(const std::string&)>& source);

/// What a rank has to use to reach `hosts`: that interface and the InfiniBand ports, with commas between them, as the
/// network engine takes them. Empty when no interface reaches all: then it takes all.
std::string devices_towards(const std::vector<std::string>& hosts);

} // namespace kumiki::platform
