#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/network/rows.hpp"

namespace kumiki::bench {

/// Another implementation between two ranks of two hosts: its put and its messages.
struct Peer {
    std::string implementation;
    std::function<bool(std::uint64_t)> put_ping_pong, send_ping_pong; ///< 8 bytes there and back (rounds)
    Mover put, send;
};

template <World W>
void need_two_hosts(W& world) {
    if (world.size() != 2 || world.hosts() != 2)
        throw std::runtime_error("it needs 2 ranks on 2 hosts, and this run has " + std::to_string(world.size()) +
                                 " on " + std::to_string(world.hosts()) +
                                 "; start it with --hosts a,b (kumiki-run, MPICH's mpirun) or --host a,b (Open MPI's)");
}

/// Measures its latencies, then its bandwidth at each size; returns the program's exit code. Collective.
template <World W>
int measure_peer(W& world, const Peer& peer, const RemoteMemoryOptions& options) {
    const auto latency = [&](const char* operation, auto play) {
        return rounds(world, network_latency(peer.implementation, operation), std::move(play), 2);
    };
    const int code =
        contest(world, {latency("put", peer.put_ping_pong), latency("send", peer.send_ping_pong)}, options.budget);
    Batches batches;
    const std::vector movers{network_mover(peer.implementation, "put", peer.put),
                             network_mover(peer.implementation, "send", peer.send)};
    return std::max(code, sweep_sizes(world, options, movers, batches, network_limits));
}

} // namespace kumiki::bench
