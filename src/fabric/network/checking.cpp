#include "fabric/network/checking.hpp"

#include "fabric/network/network.hpp"
#include "kumiki/kumiki.h"

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
        return "names a sender that there is not";
    if (!may_come_from(header.kind, header.source)) return "is none that this sender sends";
    switch (header.kind) {
    case MessageKind::put:
        if (!is_region(header.offset, payload.size()) || payload.size() > header.bytes)
            return "puts data into no region";
        if (!is_signal(header.operation)) return "raises no signal that there is";
        if (header.operation != MessageHeader::no_signal && !is_word(header.signal))
            return "signals what is no word of a region";
        return nullptr;
    case MessageKind::get: // a get of 0 bytes would have no answer
        return header.bytes != 0 && is_region(header.offset, header.bytes) ? nullptr : "asks for what is in no region";
    case MessageKind::atomic:
        if (!is_atomic(header.operation)) return "is no atomic that there is";
        return is_word(header.signal) ? nullptr : "changes what is no word of a region";
    case MessageKind::got:
        return !payload.empty() && is_part(header.offset, payload.size(), header.bytes) ? nullptr
                                                                                        : "is no part of an answer";
    case MessageKind::collective:
        return is_part(header.offset, payload.size(), header.bytes) ? nullptr : "is not a part of a message";
    case MessageKind::active_message:
        if (header.value >= static_cast<std::uint64_t>(messenger_.handlers()))
            return "is for a handler that there is not";
        return payload.size() <= shm::InboxSlot::capacity ? nullptr : "is longer than an active message can be";
    case MessageKind::share: {
        const auto region = regions_.find(header.offset);
        return region && region->begin == header.offset && region->size() == header.bytes ? nullptr
                                                                                          : "asks for no region";
    }
    case MessageKind::difference:
        return is_rank(header.offset) && is_rank(header.bytes) ? nullptr : "speaks of ranks that there are not";
    case MessageKind::message: return header.sink < SinkId::count ? nullptr : "is for a floor that there is not";
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
    return "is of a kind that there is not";
}

} // namespace kumiki::fabric
