#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/memory.hpp"
#include "wait/meeting.hpp"

/// What the members of a group share with each other on one host. A rank has one MemberBlock for each group that it is
/// in; they start as zeros, and are cleared before another group uses them.
namespace kumiki::fabric::shm {

/// How many groups a rank can be in at a time, the job among them. A block that is not used takes no memory.
inline constexpr int most_groups = 64;

/// What a rank believes a collective call to be. The others compare: it must be the same everywhere.
struct CollectiveCall {
    std::uint32_t kind;   ///< collective::Kind
    std::uint32_t detail; ///< root, type and operation, or what stands for a table of sizes
    std::uint64_t bytes;
    friend bool operator==(const CollectiveCall&, const CollectiveCall&) = default;
};

/// Which collective a rank is in: its number, counted alike by all ranks of the group, and in the low byte where they
/// meet in it (collective::CallLog::Place). 0: none yet.
using CallNote = std::uint64_t;
/// Whether ranks with these notes wait for each other in vain.
constexpr bool differ(CallNote one, CallNote other) { return one >> 8 == other >> 8 && one != other; }

/// Two ranks that wait for each other in vain. Whoever finds out first tells the others; both of them may find out at
/// the same time.
struct Differing {
    std::atomic<std::uint64_t> call;   ///< number of the collective; 0: there are none
    std::atomic<std::uint32_t> teller; ///< 1: somebody has found out, and writes the parties, and then the call
    struct Party {
        std::atomic<std::int32_t> rank; ///< of the job
        std::atomic<CallNote> note;
    };
    std::array<Party, 2> party;
};

/// A small contribution to a collective, sent straight to one rank: data and signal in one line.
struct alignas(platform::apart) Contribution {
    static constexpr std::size_t capacity = 40;
    std::atomic<std::uint64_t> epoch;
    CollectiveCall call;
    std::array<std::byte, capacity> payload;
};
inline constexpr int most_contributors = 64; ///< with more ranks, small collectives take the way of the large ones

/// Where a rank publishes data for all others in a collective. Two of everything, used in turn: who writes the second
/// has heard that all have read the first.
struct Board {
    static constexpr std::size_t capacity = 64 << 10;
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    struct alignas(platform::apart) Notice {
        CollectiveCall call;
        std::uint64_t offset; ///< of the data in the owner's arena when the others can take them there; nowhere: they
                              ///< are on the board
    };
    std::array<Notice, 2> notice;
    alignas(platform::smallest_page) std::array<std::array<std::byte, capacity>, 2> data;
};

/// What the ranks of several hosts have found out together, told by a host's leader to its other ranks.
struct HostsResult {
    std::int32_t differing; ///< the number in the group of a rank of a host whose call differs; -1: none
    CollectiveCall theirs;  ///< its call
    std::array<std::byte, Contribution::capacity> payload;
};

/// What all members on this host have in common. It lies in the block of the first of them.
struct HostBlock {
    wait::Gate barrier;    ///< plain barrier when the host is crowded
    wait::Gate step;       ///< where ranks meet within other collectives, when the host is crowded
    wait::Gate split;      ///< split-phase barrier
    wait::Gate over_hosts; ///< the barrier of all members, when they are on several hosts
    HostsResult result;
    Differing differing;
};

/// What belongs to one rank in one group.
struct alignas(platform::smallest_page) MemberBlock {
    alignas(platform::apart) std::atomic<CallNote> call; ///< the collective it is in
    std::atomic<std::uint32_t> gone; ///< members on this host that have left the group: when all have, nobody uses the
                                     ///< block any more
    HostBlock host;
    std::array<wait::Flag, wait::most_rounds> barrier;
    std::array<std::array<Contribution, most_contributors>, 2>
        contributions; ///< used in turn, by number of the contributor
    Board board;
};

} // namespace kumiki::fabric::shm
