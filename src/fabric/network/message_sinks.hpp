#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fabric/network/transport.hpp"

namespace kumiki::fabric {

/// Receives the messages between hosts that belong to a layer above (MessageKind::message). The receiving thread (a
/// waiting thread or the agent) calls it. There is one such thread at a time, and a sink must not block it: it may send
/// only by Network::post().
class MessageSink {
public:
    virtual ~MessageSink() = default;
    /// The source is guaranteed to be another rank; nothing else has been checked. Returns false when the message does
    /// not fit the messages before it; the sink has then ignored it.
    virtual bool receive(const MessageHeader& header, std::span<const std::byte> payload) = 0;
    /// The message that the sink posted with this ticket has left.
    virtual void left(std::uint64_t ticket) = 0;
    /// Sends one part of a long message, so that other messages can go in between; returns whether there was one to
    /// send.
    virtual bool pump() = 0;
};

/// The sinks of this rank, and the early messages for layers that this rank has not constructed yet because another
/// rank was faster. Not thread-safe.
class MessageSinks {
public:
    /// From now on messages go to `sink`. Calls dropped(header) for each early message that the sink refuses.
    template <class Dropped>
    void admit(SinkId id, MessageSink& sink, Dropped dropped) {
        Place& place = at(id);
        place.sink = &sink;
        for (const Early& each : std::exchange(place.early, {}))
            if (!sink.receive(each.header, each.payload)) dropped(each.header);
    }
    /// From now on messages for this sink are discarded.
    void dismiss(SinkId id) {
        at(id).sink = nullptr;
        at(id).gone = true;
    }

    /// Returns false when the message does not fit the messages before it.
    bool receive(const MessageHeader& header, std::span<const std::byte> payload) {
        Place& place = at(header.sink);
        if (place.sink != nullptr) return place.sink->receive(header, payload);
        if (!place.gone) place.early.push_back({header, {payload.begin(), payload.end()}});
        return true;
    }
    void left(SinkId id, std::uint64_t ticket) {
        if (MessageSink* const sink = at(id).sink) sink->left(ticket);
    }
    bool pump() {
        bool any = false;
        for (const Place& place : places_) any = (place.sink != nullptr && place.sink->pump()) || any;
        return any;
    }

private:
    struct Early {
        MessageHeader header;
        std::vector<std::byte> payload;
    };
    struct Place {
        MessageSink* sink = nullptr;
        bool gone = false;
        std::vector<Early> early;
    };
    Place& at(SinkId id) { return places_[static_cast<std::size_t>(id)]; }

    std::array<Place, static_cast<std::size_t>(SinkId::count)> places_;
};

} // namespace kumiki::fabric
