#include "fabric/network/strangers.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

#include "platform/hardware.hpp"
#include "platform/sockets.hpp"

namespace kumiki::fabric {
namespace {

using namespace std::chrono_literals;

/// Checking all connections takes time, and a stranger may send many such messages, so the checks are limited.
constexpr auto look_each = 1s;
constexpr std::size_t most_told = 16;

} // namespace

void Strangers::know(const std::string& addresses) {
    std::istringstream words(addresses);
    for (std::string address; words >> address;) friends_.insert(address);
}

void Strangers::refused() {
    const auto now = std::chrono::steady_clock::now();
    if (now < look_again_) return;
    look_again_ = now + look_each;
    bool found = false;
    for (const auto& connection : platform::connections_to(ports_)) {
        if (friends_.contains(connection.peer)) continue;
        found = true;
        platform::cut(connection);
        if (told_.size() < most_told && told_.insert(connection.peer).second)
            say(fmt::format("refused {}, which is no host of this job: it sent a message without this job's key; its "
                            "connection was ended",
                            connection.peer));
    }
    if (found || !told_.empty() || told_of_a_friend_) return;
    told_of_a_friend_ = true;
    say(fmt::format(
        "refused a message without this job's key; nobody is connected but this job's own hosts ({}), so it "
        "came from another program on one of them",
        fmt::join(friends_, ", ")));
}

void Strangers::say(const std::string& sentence) const {
    fmt::print(stderr, "kumiki: rank {} on host {} {}; the job goes on\n", rank_, platform::host_name(), sentence);
}

} // namespace kumiki::fabric
