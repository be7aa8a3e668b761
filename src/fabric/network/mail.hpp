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

namespace kumiki::fabric {

/// What has come of the messages of collectives: each has a source and a tag, is received once, and may come in parts
/// and before anybody asks for it. Not thread-safe, but for Letter::whole.
class Mail {
public:
    struct Letter {
        std::vector<std::byte> kept; ///< when it came before it was asked for
        std::span<std::byte> into;   ///< where it goes when it was asked for first
        bool expected = false;
        std::size_t received = 0, total = 0;
        std::atomic<bool> whole{false};
    };

    /// A part has come: whether the letter is whole now. Nothing when the part is not the one that follows: parts come
    /// in order.
    std::optional<bool> take(const MessageHeader& header, std::span<const std::byte> part) {
        Letter& letter = at(header.source, header.ticket);
        if (letter.received == 0) letter.total = header.bytes;
        if (letter.whole.load(std::memory_order_relaxed) || header.bytes != letter.total ||
            header.offset != letter.received || part.size() > letter.total - letter.received)
            return std::nullopt;
        if (!letter.expected) {
            if (letter.received == 0) letter.kept.reserve(std::min(letter.total, most_promised));
            letter.kept.insert(letter.kept.end(), part.begin(), part.end());
        } else if (header.offset < letter.into.size() && !part.empty()) {
            // What is longer than expected is cut; its receiver compares the lengths.
            std::memcpy(letter.into.data() + header.offset, part.data(),
                        std::min<std::size_t>(part.size(), letter.into.size() - header.offset));
        }
        letter.received += part.size();
        const bool whole = letter.received == letter.total;
        if (whole) letter.whole.store(true, std::memory_order_release);
        return whole;
    }

    /// Asks for a letter that goes to `into`; stays valid until forget().
    Letter& expect(int source, std::uint64_t tag, std::span<std::byte> into) {
        const bool has_come = letters_.contains({source, tag});
        Letter& letter = at(source, tag);
        if (!has_come) letter.expected = true;
        letter.into = into;
        return letter;
    }

    /// After the letter is whole: puts it where it was expected, and returns its length.
    std::size_t forget(int source, std::uint64_t tag) {
        const auto found = letters_.find({source, tag});
        const Letter& letter = *found->second;
        if (!letter.expected && !letter.kept.empty())
            std::copy_n(letter.kept.begin(), std::min(letter.kept.size(), letter.into.size()), letter.into.begin());
        const std::size_t total = letter.total;
        letters_.erase(found);
        return total;
    }

private:
    /// Memory is taken for what has come; for what is only promised not more than this.
    static constexpr std::size_t most_promised = std::size_t{1} << 20;

    Letter& at(int source, std::uint64_t tag) {
        auto& letter = letters_[{source, tag}];
        if (!letter) letter = std::make_unique<Letter>();
        return *letter;
    }

    std::map<std::pair<int, std::uint64_t>, std::unique_ptr<Letter>> letters_;
};

} // namespace kumiki::fabric
