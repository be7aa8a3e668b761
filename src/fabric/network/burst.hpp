#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "fabric/network/transport.hpp"

namespace kumiki::fabric {

/// Small messages to one rank, collected to leave in one transfer (the network burst of the Maestro paper, 2.4),
/// because over TCP even the smallest message costs microseconds. Not thread-safe.
class Burst {
public:
    /// A longer message travels alone.
    static constexpr std::size_t longest_message = Transport::longest_kept;

    bool empty() const { return bytes_.empty(); }
    /// Whether a burst of at most `room` bytes can take one more message.
    bool has_room_for(std::size_t payload, std::size_t room) const {
        return bytes_.size() + sizeof(MessageHeader) + payload <= room;
    }
    void add(const MessageHeader& header, std::span<const std::byte> payload, std::size_t room) {
        if (empty()) bytes_.reserve(room);
        MessageHeader stated = header;
        stated.bytes = payload.size(); // tells the receiver where the next message begins
        append(&stated, sizeof stated);
        append(payload.data(), payload.size());
    }
    /// Leaves the burst empty and without allocated memory, because a rank may have thousands of peers.
    std::vector<std::byte> take() { return std::exchange(bytes_, {}); }

    /// Calls receive(header, payload) for each message of a received burst. Returns false when the remaining bytes are
    /// not a whole message.
    template <class Receive>
    static bool open(std::span<const std::byte> bytes, Receive receive) {
        while (bytes.size() >= sizeof(MessageHeader)) {
            MessageHeader header;
            std::memcpy(&header, bytes.data(), sizeof header);
            bytes = bytes.subspan(sizeof header);
            if (header.bytes > bytes.size()) return false;
            receive(header, bytes.first(header.bytes));
            bytes = bytes.subspan(header.bytes);
        }
        return bytes.empty();
    }

private:
    void append(const void* data, std::size_t size) {
        const auto* begin = static_cast<const std::byte*>(data);
        bytes_.insert(bytes_.end(), begin, begin + size);
    }
    std::vector<std::byte> bytes_;
};

} // namespace kumiki::fabric
