#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/network/transport.hpp"
#include "fabric/shm/layout.hpp"
#include "kumiki/kumiki.h"

namespace kumiki::message {

inline constexpr int any = KUMIKI_ANY;

/// A message of at most so many bytes is complete at its sender at once: where there is no room for it, a copy waits.
inline constexpr std::size_t longest_kept = fabric::Transport::longest_kept;

/// Bytes of the longest message that travels in cells of the channel.
inline constexpr std::size_t most_in_cells = fabric::shm::CellContent::capacity + fabric::shm::CellContent::more;

/// Describes a completed request, or a message.
struct Status {
    int source = any, tag = any;
    std::size_t bytes = 0;
};

/// A send, a receive or another transfer that is not complete yet, or has not been waited for. Its members except
/// `done` are guarded by the table's lock, or belong to the thread that has removed the request from the list in which
/// others could find it.
struct Request {
    Request *next = nullptr, *previous = nullptr;
    std::atomic<bool> free{false}, done{false};
    bool broken = false; ///< the other process's memory could not be reached
    bool staged = false; ///< `data` is a copy in the library's memory (staged.hpp), to be freed at the end
    bool kept = false;   ///< `data` is the library's copy of a short message; no thread waits for this request
    int rank = any;      ///< the other rank; for a receive: as requested, later as received
    int tag = any;       ///< the same
    std::byte* data = nullptr;
    std::size_t bytes = 0;  ///< at `data`
    std::size_t length = 0; ///< of the message
    std::size_t moved = 0;  ///< for a message in fragments: bytes sent or received, or taken on to be copied
    std::atomic<std::size_t> copied{0}; ///< for a message in fragments through the area: bytes that have been copied
    std::uint64_t token = 0;            ///< the other side's request
    std::uint64_t number = 0;           ///< number of this request, for a peer on another host
    std::byte* program = nullptr;       ///< if `staged`: where the data belong; null: they only leave

    /// A long message between processes of one host: see Copier.
    struct Copy {
        fabric::shm::Transfer* transfer = nullptr; ///< where parts are claimed
        std::byte* there = nullptr;                ///< the other side's memory; null: copy by system calls
        std::uint64_t address = 0;                 ///< that memory's address in its own process
        std::int32_t process = 0;
        bool pulls = false;  ///< this is the receiver
        bool shared = false; ///< the sender may help
    } copy;

    /// A message that never found room, because its receiver ended, still has its copy at the end.
    ~Request() { drop_kept(); }
    /// Returns whether there was a copy.
    bool drop_kept() {
        if (kept) delete[] data;
        return std::exchange(kept, false);
    }
};
static_assert(sizeof(Request) <= 128, "hundreds of them stay in the nearest cache");

/// The place of a long message at its sender, where it stays until a receive matches it.
struct Announcement {
    std::uint64_t bytes;
    std::uint64_t request; ///< the sender's
    std::uint64_t address; ///< in the sender's process
    std::uint64_t offset;  ///< in the sender's arena, or Board::nowhere
};

/// An unexpected message: it has arrived before a receive for it was posted.
struct Arrival {
    Arrival *next = nullptr, *previous = nullptr;
    std::atomic<bool> free{false};
    int source = any, tag = any;
    std::size_t bytes = 0;
    enum class Place : std::uint8_t { here, slot, kept, announced, reserved } place = Place::here;
    int slot = 0;
    std::array<std::byte, most_in_cells> here;
    Announcement announcement{};
    std::vector<std::byte> kept; ///< data that arrived over the network
    // A long message of this host that was, or is being, copied into the reserve:
    std::unique_ptr<std::byte[]> reserved;
    Request* transfer = nullptr; ///< receives it into `reserved`
    Request* receive = nullptr;  ///< waits for it; null: not posted yet
};

} // namespace kumiki::message
