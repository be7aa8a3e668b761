#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric/network/transport.hpp"
#include "platform/fault_signals.hpp"

namespace kumiki::fabric {

/// The messages of collectives that have arrived or are expected. Each has a source and a tag, is received once, and
/// may arrive in parts, and before a thread asks for it. Not thread-safe, except for Message::whole.
class CollectiveInbox {
public:
    struct Message {
        std::vector<std::byte> kept; ///< the data, unless they go straight to their destination
        std::span<std::byte> into;   ///< the destination, when expect() has come
        bool expected = false;       ///< the data go straight to their destination
        std::size_t received = 0, total = 0;
        std::atomic<bool> whole{false};

        /// Copies data that were kept to their destination, and returns the length of the message. Must be called
        /// without a lock of the library.
        std::size_t store() const {
            if (!expected && !kept.empty()) std::copy_n(kept.begin(), std::min(kept.size(), into.size()), into.begin());
            return total;
        }
    };

    /// Takes a part that has arrived, and returns whether the message is whole now. Returns nothing when this is not
    /// the next part: parts arrive in order.
    std::optional<bool> take(const MessageHeader& header, std::span<const std::byte> part) {
        Message& message = at(header.source, header.ticket);
        if (message.received == 0) message.total = header.bytes;
        if (message.whole.load(std::memory_order_relaxed) || header.bytes != message.total ||
            header.offset != message.received || part.size() > message.total - message.received)
            return std::nullopt;
        if (!message.expected) {
            if (message.received == 0) message.kept.reserve(std::min(message.total, most_promised));
            message.kept.insert(message.kept.end(), part.begin(), part.end());
        } else if (header.offset < message.into.size() && !part.empty()) {
            // A message that is longer than expected is truncated; its receiver compares the lengths.
            std::memcpy(message.into.data() + header.offset, part.data(),
                        std::min<std::size_t>(part.size(), message.into.size() - header.offset));
        }
        message.received += part.size();
        const bool whole = message.received == message.total;
        if (whole) message.whole.store(true, std::memory_order_release);
        return whole;
    }

    /// Asks for a message, to be stored in `into`. The returned reference is valid until remove(). Memory that may
    /// fault is not touched by the thread that receives (staged.hpp).
    Message& expect(int source, std::uint64_t tag, std::span<std::byte> into) {
        const bool has_come = messages_.contains({source, tag});
        Message& message = at(source, tag);
        if (!has_come) message.expected = !platform::may_fault(into);
        message.into = into;
        return message;
    }

    /// Called once the message is whole.
    std::unique_ptr<Message> remove(int source, std::uint64_t tag) {
        return std::move(messages_.extract({source, tag}).mapped());
    }

private:
    /// The most memory to reserve for data that a header only promises; beyond it, memory grows with the data that
    /// arrive.
    static constexpr std::size_t most_promised = std::size_t{1} << 20;

    Message& at(int source, std::uint64_t tag) {
        auto& message = messages_[{source, tag}];
        if (!message) message = std::make_unique<Message>();
        return *message;
    }

    std::map<std::pair<int, std::uint64_t>, std::unique_ptr<Message>> messages_;
};

} // namespace kumiki::fabric
