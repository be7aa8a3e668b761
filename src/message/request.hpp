#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/shm/layout.hpp"
#include "kumiki/kumiki.h"

namespace kumiki::message {

inline constexpr int any = KUMIKI_ANY;

/// What has come.
struct Status {
    int source = any, tag = any;
    std::size_t bytes = 0;
};

/// A send, a receive or another transfer that is not complete yet, or that nobody has waited for. All but `done` is guarded by the
/// table's lock, or belongs to whoever has taken it off the list in which others could find it.
struct Request {
    Request *next = nullptr, *previous = nullptr;
    std::atomic<bool> free{false}, done{false};
    bool broken = false; ///< the other process's memory could not be reached
    int rank = any;      ///< to or from; of a receive: as asked for, later as come
    int tag = any;       ///< the same
    std::byte* data = nullptr;
    std::size_t bytes = 0;    ///< at `data`
    std::size_t length = 0;   ///< of the message
    std::size_t moved = 0;    ///< of a message in fragments: bytes sent, or received
    std::uint64_t token = 0;  ///< the other side's request
    std::uint64_t number = 0; ///< of this one, for a side on another host

    /// A long message between processes of one host: see Copier.
    struct Copy {
        fabric::shm::Transfer* transfer = nullptr; ///< where parts are claimed
        std::byte* there = nullptr;                ///< the other side's memory; null: through the system
        std::uint64_t address = 0;                 ///< of it in its process
        std::int32_t process = 0;
        bool pulls = false;  ///< this is the receiver
        bool shared = false; ///< the sender may help
    } copy;
};
static_assert(sizeof(Request) <= 128, "hundreds of them stay in the nearest cache");

/// Where a long message lies at its sender, who waits until somebody wants it.
struct Announcement {
    std::uint64_t bytes;
    std::uint64_t request; ///< the sender's
    std::uint64_t address; ///< in the sender's process
    std::uint64_t offset;  ///< in the sender's arena, or Board::nowhere
};

/// A message that has come before it was asked for.
struct Arrival {
    Arrival *next = nullptr, *previous = nullptr;
    std::atomic<bool> free{false};
    int source = any, tag = any;
    std::size_t bytes = 0;
    enum class Place : std::uint8_t { here, slot, kept, announced } place = Place::here;
    int slot = 0;
    std::array<std::byte, fabric::shm::CellContent::capacity> here;
    Announcement announcement{};
    std::vector<std::byte> kept; ///< what came over the network
};

} // namespace kumiki::message
