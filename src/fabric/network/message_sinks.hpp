#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fabric/network/transport.hpp"

namespace kumiki::fabric {

/// A floor above that has messages of its own between hosts (MessageKind::message). The thread that receives (one that
/// waits, or the agent) calls it; there is one at a time, which a sink must not keep: it may send by Network::post()
/// only.
class MessageSink {
public:
    virtual ~MessageSink() = default;
    /// The source is another rank; nothing else has been checked. Returns false when the message does not fit what came
    /// before it: then the sink has ignored it.
    virtual bool receive(const MessageHeader& header, std::span<const std::byte> payload) = 0;
    /// What the sink posted with this ticket has left.
    virtual void left(std::uint64_t ticket) = 0;
    /// Sends a part of a long message, so that others may go in between; returns whether there was any.
    virtual bool pump() = 0;
};

/// The sinks of this rank, and the messages for floors that are not built yet, because another rank was faster. Not
/// thread-safe.
class MessageSinks {
public:
    /// Messages go to `sink` from now on; dropped(header) is called for those that came before it and do not fit.
    template <class Dropped>
    void admit(SinkId id, MessageSink& sink, Dropped dropped) {
        Place& place = at(id);
        place.sink = &sink;
        for (const Early& each : std::exchange(place.early, {}))
            if (!sink.receive(each.header, each.payload)) dropped(each.header);
    }
    /// Messages that come for it from now on are thrown away.
    void dismiss(SinkId id) {
        at(id).sink = nullptr;
        at(id).gone = true;
    }

    /// Returns false when the message does not fit what came before it.
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
