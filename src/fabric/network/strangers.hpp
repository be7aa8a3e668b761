#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kumiki::fabric {

/// What is done about who sends to this rank without its key. The engine cannot tell over which connection a message
/// has come; but who is connected to this rank's port from an address that no host of the job has is a stranger: his
/// connection is ended, and he is told of once. One who sits on a host of the job is told of without a name. Not
/// thread-safe.
class Strangers {
public:
    explicit Strangers(int rank) : rank_(rank) {}

    /// On these ports the engine listens.
    void listen_on(std::vector<std::uint16_t> ports) { ports_ = std::move(ports); }
    /// A host of the job has these addresses (platform::addresses_of).
    void know(const std::string& addresses);
    /// A message without the key has come.
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
