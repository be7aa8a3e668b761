#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>

#include "fabric/network/transport.hpp"

namespace kumiki::fabric {

/// Non-blocking puts, which continue after their call has returned. Each is sent in parts, the next part when the
/// previous one has left, so that other messages can go in between. Not thread-safe.
class StartedPuts {
public:
    /// `source` must not change until `done` is true.
    void add(int rank, std::uint64_t offset, std::span<const std::byte> source, std::atomic<bool>& done) {
        puts_.push_back({rank, offset, source, 0, false, &done});
    }

    /// The part that was posted with this ticket has left.
    static void left(std::uint64_t ticket) { reinterpret_cast<Put*>(ticket)->part_is_on_its_way = false; }

    /// Sends the next part of each put whose previous part has left; returns whether there was anything to do.
    /// post(rank, offset, part, ticket) sends a part and returns whether it has left already. complete(rank, done) is
    /// called for each put whose parts have all left.
    template <class Post, class Complete>
    bool pump(std::size_t longest_part, Post post, Complete complete) {
        bool any = false;
        for (auto put = puts_.begin(); put != puts_.end();) {
            if (put->part_is_on_its_way) {
                ++put;
                continue;
            }
            any = true;
            const auto part =
                put->source.subspan(put->sent).first(std::min(put->source.size() - put->sent, longest_part));
            if (part.empty()) {
                complete(put->rank, *put->done);
                put = puts_.erase(put);
                continue;
            }
            put->part_is_on_its_way =
                !post(put->rank, put->offset + put->sent, part, reinterpret_cast<std::uintptr_t>(&*put));
            put->sent += part.size();
            ++put;
        }
        return any;
    }

private:
    struct Put {
        int rank;
        std::uint64_t offset;
        std::span<const std::byte> source;
        std::size_t sent; ///< bytes
        bool part_is_on_its_way;
        std::atomic<bool>* done;
    };
    std::list<Put> puts_;
};

} // namespace kumiki::fabric
