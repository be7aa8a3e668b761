#pragma once

#include <string>
#include <vector>

#include "fabric/ucx/common.hpp"

/// What UCX says of its own choices. No function of its interface returns them in all supported versions (1.13 to
/// 1.22), so they are taken from the texts that it prints for people. A text that is not understood counts as "no".
namespace kumiki::fabric::ucx {

/// The transports that a context may use, each with its device: "tcp/eth0".
std::vector<std::string> transports_of(ucp_context_h context);

struct Lane {
    std::string transport; ///< with its device: "rc_mlx5/mlx5_0:1"
    bool for_puts = false; ///< UCX before 1.16 writes and reads remote memory by it
};
/// The parts of a connection.
std::vector<Lane> lanes_of(ucp_ep_h connection);

/// How UCX carries out a request: by a protocol of 1.16 and newer, in the words of UCX; empty in older versions.
std::string protocol_of(void* request);

/// Whether a transport carries messages over a network that UCX prefers to TCP.
bool is_fast_network(const std::string& transport);

/// Whether a transport can write and read memory that UCX has not allocated, without the processor of its owner.
bool writes_itself(const std::string& transport);

} // namespace kumiki::fabric::ucx
