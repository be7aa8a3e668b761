#pragma once

#include <cstddef>
#include <span>

#include "fabric/messenger.hpp"
#include "fabric/network/hosts.hpp"
#include "fabric/network/transport.hpp"
#include "fabric/region_table.hpp"

namespace kumiki::fabric {

/// Checks each message by itself: whether its fields are valid for the regions, ranks and handlers that exist now.
/// Whether it fits the messages before it (tickets, parts of messages, barriers, credit) is checked by the class that
/// keeps that state. Thread-safe.
class Checking {
public:
    Checking(const RegionTable& regions, const Messenger& messenger, const Hosts& hosts, int own_rank)
        : regions_(regions), messenger_(messenger), hosts_(hosts), own_rank_(own_rank) {}

    /// Returns the fault of the message as a phrase that completes "it ...", or null when there is none.
    const char* fault(const MessageHeader& header, std::span<const std::byte> payload) const;

private:
    bool is_rank(std::uint64_t number) const { return number < static_cast<std::uint64_t>(hosts_.size()); }
    bool may_come_from(MessageKind kind, int source) const;
    bool is_region(std::uint64_t offset, std::uint64_t bytes) const {
        return bytes == 0 || regions_.contains(offset, bytes);
    }
    bool is_word(std::uint64_t offset) const {
        return offset % sizeof(std::uint64_t) == 0 && regions_.contains(offset, sizeof(std::uint64_t));
    }

    const RegionTable& regions_;
    const Messenger& messenger_;
    const Hosts& hosts_;
    int own_rank_;
};

} // namespace kumiki::fabric
