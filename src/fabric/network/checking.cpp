#include "fabric/network/checking.hpp"

#include "fabric/network/network.hpp"
#include "kumiki/types.h"

namespace kumiki::fabric {
namespace {

bool is_atomic(std::uint8_t operation) { return operation <= static_cast<std::uint8_t>(Network::Atomic::swap); }

/// The signal operation of a put must be none, or one of the interface.
bool is_signal(std::uint8_t operation) {
    return operation == MessageHeader::no_signal || operation == KUMIKI_SIGNAL_SET || operation == KUMIKI_SIGNAL_ADD;
}

/// Whether a part at `offset` lies within `whole` bytes.
bool is_part(std::uint64_t offset, std::uint64_t bytes, std::uint64_t whole) {
    return bytes <= whole && offset <= whole - bytes;
}

} // namespace

/// Ranks of one host share memory, so the only message between them is `arrived`, which tells the leader of the group
/// that all have entered a barrier. Only GroupLink knows which rank leads a group, and checks that.
bool Checking::may_come_from(MessageKind kind, int source) const {
    if (source == own_rank_) return false;
    switch (kind) {
    case MessageKind::arrived: return hosts_.here(source);
    case MessageKind::heartbeat: // when a host's leader is stopped, the next rank sends it
        return !hosts_.here(source) && hosts_.leads();
    default: return !hosts_.here(source);
    }
}

const char* Checking::fault(const MessageHeader& header, std::span<const std::byte> payload) const {
    if (header.source < 0 || !is_rank(static_cast<std::uint64_t>(header.source)))
        return "names a sender that does not exist";
    if (!may_come_from(header.kind, header.source)) return "is of a kind that its sender does not send";
    switch (header.kind) {
    case MessageKind::put:
        if (!is_region(header.offset, payload.size()) || payload.size() > header.bytes)
            return "puts data outside of all regions";
        if (!is_signal(header.operation)) return "raises a signal by an unknown operation";
        if (header.operation != MessageHeader::no_signal && !is_word(header.signal))
            return "raises a signal that is no word of a region";
        return nullptr;
    case MessageKind::get: // a get of 0 bytes would have no answer
        return header.bytes != 0 && is_region(header.offset, header.bytes) ? nullptr
                                                                           : "asks for data outside of all regions";
    case MessageKind::atomic:
        if (!is_atomic(header.operation)) return "asks for an unknown atomic operation";
        return is_word(header.signal) ? nullptr : "changes a place that is no word of a region";
    case MessageKind::got:
        return !payload.empty() && is_part(header.offset, payload.size(), header.bytes)
                   ? nullptr
                   : "does not fit into the answer that it is a part of";
    case MessageKind::collective:
        return is_part(header.offset, payload.size(), header.bytes)
                   ? nullptr
                   : "does not fit into the message that it is a part of";
    case MessageKind::active_message:
        if (header.value >= static_cast<std::uint64_t>(messenger_.handlers()))
            return "is for a handler that does not exist";
        return payload.size() <= shm::InboxSlot::capacity ? nullptr : "is longer than an active message can be";
    case MessageKind::share: {
        const auto region = regions_.find(header.offset);
        return region && region->begin == header.offset && region->size() == header.bytes
                   ? nullptr
                   : "asks for the key of an unknown region";
    }
    case MessageKind::difference:
        return is_rank(header.offset) && is_rank(header.bytes) ? nullptr : "names ranks that do not exist";
    case MessageKind::message: return header.sink < SinkId::count ? nullptr : "is for an unknown receiver";
    case MessageKind::answer:
    case MessageKind::shared:
    case MessageKind::flush:
    case MessageKind::credit:
    case MessageKind::barrier:
    case MessageKind::arrived:
    case MessageKind::burst:
    case MessageKind::call:
    case MessageKind::heartbeat: return nullptr;
    }
    return "is of an unknown kind";
}

} // namespace kumiki::fabric
