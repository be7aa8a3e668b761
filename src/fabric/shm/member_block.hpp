#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/memory.hpp"
#include "wait/meeting.hpp"

/// The data that the members of a group on one host share. A rank has one MemberBlock for each of its groups. Blocks
/// start as zeros, and are cleared before another group uses them.
namespace kumiki::fabric::shm {

/// The most groups that a rank can be in at a time, including the job. An unused block takes no memory.
inline constexpr int most_groups = 64;

/// A rank's description of a collective call. The ranks compare their descriptions, which must be equal.
struct CollectiveCall {
    std::uint32_t kind;   ///< collective::Kind
    std::uint32_t detail; ///< root, type and operation, or a value that represents a table of sizes
    std::uint64_t bytes;
    friend bool operator==(const CollectiveCall&, const CollectiveCall&) = default;
};

/// The collective that a rank is in: its number, which all ranks of the group count alike, and in the low byte the
/// meeting point inside it (collective::CallLog::Place). 0: none yet.
using CallNote = std::uint64_t;
/// Whether ranks with these notes are in the same-numbered collective at different meeting points, so that they would
/// wait for each other forever.
constexpr bool differ(CallNote one, CallNote other) { return one >> 8 == other >> 8 && one != other; }

/// Two ranks that would wait for each other forever. The rank that first detects this tells the others; both may detect
/// it at the same time.
struct Differing {
    std::atomic<std::uint64_t> call;   ///< number of the collective; 0: there is no such pair
    std::atomic<std::uint32_t> teller; ///< 1: a rank has detected it, and writes the parties and then the call
    struct Party {
        std::atomic<std::int32_t> rank; ///< of the job
        std::atomic<CallNote> note;
    };
    std::array<Party, 2> party;
};

/// A small contribution to a collective, written directly to one rank, with data and signal in one line.
struct alignas(platform::apart) Contribution {
    static constexpr std::size_t capacity = 40;
    std::atomic<std::uint64_t> epoch;
    CollectiveCall call;
    std::array<std::byte, capacity> payload;
};
inline constexpr int most_contributors = 64; ///< with more ranks, small collectives use the path of large ones

/// The place where a rank publishes data for all others in a collective. Everything exists twice and is used
/// alternately: a rank that writes the second copy knows that all have read the first.
struct Board {
    static constexpr std::size_t capacity = 64 << 10;
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    struct alignas(platform::apart) Notice {
        CollectiveCall call;
        std::uint64_t offset; ///< of the data in the owner's arena, if the others can read them there; nowhere: they
                              ///< are on the board
    };
    std::array<Notice, 2> notice;
    alignas(platform::smallest_page) std::array<std::array<std::byte, capacity>, 2> data;
};

/// The result of a step between hosts, which a host's leader publishes to the other ranks of its host.
struct HostsResult {
    std::int32_t differing; ///< number in the group of a rank whose call differs; -1: none
    CollectiveCall theirs;  ///< its call
    std::array<std::byte, Contribution::capacity> payload;
};

/// The data that all members on this host have in common; stored in the block of the first member.
struct HostBlock {
    wait::Gate barrier;    ///< the plain barrier when the host is crowded
    wait::Gate step;       ///< synchronizes ranks inside other collectives when the host is crowded
    wait::Gate split;      ///< split-phase barrier
    wait::Gate over_hosts; ///< the barrier of all members, when they are on several hosts
    HostsResult result;
    Differing differing;
};

/// The data of one rank in one group.
struct alignas(platform::smallest_page) MemberBlock {
    alignas(platform::apart) std::atomic<CallNote> call; ///< the collective that the rank is in
    std::atomic<std::uint32_t> gone; ///< members on this host that left the group; once all have, the block is unused
    HostBlock host;
    std::array<wait::Flag, wait::most_rounds> barrier; ///< like the gates of that name, when the host is not crowded
    std::array<wait::Flag, wait::most_rounds> step;
    std::array<std::array<Contribution, most_contributors>, 2>
        contributions; ///< used in turn, by number of the contributor
    Board board;
};

} // namespace kumiki::fabric::shm
