#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kumiki::fabric {

/// Handles senders of messages without this rank's key. The engine cannot tell over which connection a message arrived.
/// But a peer that is connected to this rank's port from an address that no host of the job has is a stranger: its
/// connection is closed and it is reported once. A sender on a host of the job is reported without its address. Not
/// thread-safe.
class Strangers {
public:
    explicit Strangers(int rank) : rank_(rank) {}

    /// The ports on which the engine listens.
    void listen_on(std::vector<std::uint16_t> ports) { ports_ = std::move(ports); }
    /// Adds the addresses of a host of the job (platform::addresses_of).
    void know(const std::string& addresses);
    /// A message without the key has arrived.
    void refused();

private:
    void say(const std::string& sentence) const;

    int rank_;
    std::vector<std::uint16_t> ports_;
    std::set<std::string> friends_, told_;
    bool told_of_a_friend_ = false;
    std::chrono::steady_clock::time_point look_again_{};
};

} // namespace kumiki::fabric
