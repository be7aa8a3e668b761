#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fabric/shm/channel.hpp"
#include "platform/memory.hpp"
#include "settings/settings.hpp"
#include "wait/bell.hpp"
#include "wait/meeting.hpp"

/// What lies where in the memory that the ranks of one host share: one file, mapped once by every rank.
///
///     Header | RankBlock of rank 0 | ... of rank n - 1 | Channel from 0 to 0 | from 1 to 0 | ... from n - 1 to n - 1
///     | arena of rank 0 | ... of rank n - 1
///
/// All of it starts as zeros, and zeros are the right start for every field but those that Segment::create sets. Ranks
/// of one job run the same library, which Header::version checks.
namespace kumiki::fabric::shm {

inline constexpr std::uint64_t layout_version = 0x6b756d696b690005; // "kumiki", version 5

enum class RankState : std::uint32_t { absent = 0, joined = 1, left = 2 };

/// One active message in an inbox. `turn` says whose move it is: 2k = free for the k-th lap's sender, 2k + 1 = full.
struct alignas(platform::cache_line) InboxSlot {
    static constexpr std::size_t capacity = KUMIKI_ACTIVE_MESSAGE_MAX;
    std::atomic<std::uint64_t> turn;
    std::int32_t source;
    std::int32_t handler;
    std::uint64_t bytes;
    std::array<std::byte, capacity> payload;
};

/// The active messages that have arrived at a rank: a bounded queue with many senders and one receiver at a time.
struct Inbox {
    static constexpr std::size_t slots = 64;
    alignas(platform::apart) std::atomic<std::uint64_t> tail; ///< next place to send to
    alignas(platform::apart) std::atomic<std::uint64_t> head; ///< next place to receive from
    std::atomic<std::uint32_t> busy;                          ///< 1: a thread of the receiver runs handlers
    alignas(platform::apart)
        std::atomic<std::uint32_t> attendants; ///< threads of the receiver that look here while they wait
    wait::Bell agent;                          ///< rung when there are no attendants
    wait::Bell space;                          ///< rung when places have become free
    alignas(platform::apart) std::array<InboxSlot, slots> slot;
};

/// What a rank believes a collective call to be. The others compare: it must be the same everywhere.
struct CollectiveCall {
    std::uint32_t kind;   ///< collective::Kind
    std::uint32_t detail; ///< root, or type and operation
    std::uint64_t bytes;
    friend bool operator==(const CollectiveCall&, const CollectiveCall&) = default;
};

/// Which collective a rank is in: its number, counted alike by all ranks, and in the low byte where they meet in it
/// (collective::CallLog::Place). 0: none yet.
using CallNote = std::uint64_t;
/// Whether ranks with these notes wait for each other in vain.
constexpr bool differ(CallNote one, CallNote other) { return one >> 8 == other >> 8 && one != other; }

/// Two ranks that wait for each other in vain. Whoever finds out first tells the others; both of them may find out at
/// the same time.
struct Differing {
    std::atomic<std::uint64_t> call;   ///< number of the collective; 0: there are none
    std::atomic<std::uint32_t> teller; ///< 1: somebody has found out, and writes the parties, and then the call
    struct Party {
        std::atomic<std::int32_t> rank;
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
    alignas(platform::page) std::array<std::array<std::byte, capacity>, 2> data;
};

/// From which ranks of the host messages have ever come: only their channels need be looked at.
struct Correspondents {
    alignas(platform::apart) std::atomic<std::uint64_t> count; ///< changes after `known` has
    std::array<std::atomic<std::uint64_t>, most_ranks / 64> known;
};

/// A long message whose parts both sides copy: each claims the next part that nobody has claimed yet. Belongs to the
/// receiver, who takes it up when both have put it down.
struct alignas(platform::apart) Transfer {
    std::atomic<std::uint64_t> claimed; ///< bytes from the beginning; may pass the end
    std::atomic<std::uint64_t> done;    ///< bytes that have been copied
    std::atomic<std::uint32_t> parties; ///< who still looks at it; 0: nobody
    std::atomic<std::uint32_t> broken;  ///< 1: some memory could not be reached
    std::uint64_t offset;               ///< of the receiver's memory in its arena, or Board::nowhere
    std::uint64_t address;              ///< of it in its process
};

/// What belongs to one rank.
struct alignas(platform::page) RankBlock {
    alignas(platform::apart) std::atomic<RankState> state;
    std::atomic<std::int32_t> process;
    std::atomic<std::uint64_t> beats; ///< of its agent, by which its neighbours know that it lives; 0: it has none
    std::atomic<CallNote> call;       ///< the collective it is in
    wait::Bell bell;                  ///< who waits at this rank for anything that other ranks do
    std::array<wait::Flag, wait::most_rounds> barrier;
    std::array<std::array<Contribution, most_contributors>, 2>
        contributions; ///< used in turn, by number of the contributor
    Inbox inbox;
    Correspondents correspondents;
    std::array<Transfer, 16> transfers;
    Board board;
};

/// What the ranks of several hosts have found out together, told by a host's leader to its other ranks.
struct HostsResult {
    std::int32_t differing; ///< a rank of a host whose call differs; -1: none
    CollectiveCall theirs;  ///< its call
    std::array<std::byte, Contribution::capacity> payload;
};

struct alignas(platform::page) Header {
    std::uint64_t version;
    std::uint64_t ranks;
    std::uint64_t arena_bytes;
    wait::Gate barrier;     ///< plain barrier when the host is crowded
    wait::Gate step;        ///< where ranks meet within other collectives, when the host is crowded
    wait::Gate split;       ///< split-phase barrier
    wait::Gate job;         ///< the barrier of all ranks, when there are several hosts
    std::uint64_t identity; ///< of this memory: a random number
    /// Ranks of the job, on all hosts, that are known to be stopped: until they are continued silence means nothing.
    /// Set by kumiki-run.
    std::atomic<std::uint32_t> stopped;
    HostsResult result;
    Differing differing;
};

constexpr std::size_t channel_offset(std::size_t ranks) { return sizeof(Header) + ranks * sizeof(RankBlock); }

constexpr std::size_t arena_offset(std::size_t ranks) {
    return platform::round_up(channel_offset(ranks) + ranks * ranks * sizeof(Channel), platform::huge_page);
}

} // namespace kumiki::fabric::shm
