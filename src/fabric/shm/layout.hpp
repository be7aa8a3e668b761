#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fabric/shm/channel.hpp"
#include "fabric/shm/member_block.hpp"
#include "kumiki/types.h"
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

inline constexpr std::uint64_t layout_version = 0x6b756d696b69000a; // "kumiki", version 10

/// `over`: with this rank's end the job is over, also for the ranks that have not left it.
enum class RankState : std::uint32_t { absent = 0, joined = 1, left = 2, over = 3 };

/// One active message in an inbox. `turn` tells its state: 2k = free for the sender of lap k, 2k + 1 = full.
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
    alignas(platform::apart) std::atomic<std::uint64_t> tail;       ///< next place to send to
    alignas(platform::apart) std::atomic<std::uint64_t> head;       ///< next place to receive from
    std::atomic<std::uint32_t> busy;                                ///< 1: a thread of the receiver runs handlers
    alignas(platform::apart) std::atomic<std::uint32_t> attendants; ///< threads of the receiver that poll in a wait
    wait::Bell agent;                                               ///< rung when there are no attendants
    wait::Bell space;                                               ///< rung when places have become free
    alignas(platform::apart) std::array<InboxSlot, slots> slot;
};

/// The ranks of this host that have ever sent a message to this rank: only their channels need polling.
struct Correspondents {
    alignas(platform::apart) std::atomic<std::uint64_t> count; ///< changed after `known`
    std::array<std::atomic<std::uint64_t>, most_ranks / 64> known;
};

/// Where a sender asks a rank's message agent for service: a long message has been announced, and nobody has answered.
struct MessageCall {
    alignas(platform::apart) std::atomic<std::uint32_t> open; ///< 1: the agent has not looked yet
    wait::Bell bell;                                          ///< the agent sleeps here
};

/// A long message that both sides copy in parts: each claims the next unclaimed part. Belongs to the receiver, which
/// reuses it when both sides have finished with it.
struct alignas(platform::apart) Transfer {
    std::atomic<std::uint64_t> claimed; ///< bytes from the beginning; may pass the end
    std::atomic<std::uint64_t> done;    ///< bytes that have been copied
    std::atomic<std::uint32_t> parties; ///< sides that still use it; 0: none
    std::atomic<std::uint32_t> broken;  ///< 1: some memory could not be reached
    std::uint64_t offset;               ///< of the receiver's memory in its arena, or Board::nowhere
    std::uint64_t address;              ///< that memory's address in the receiver's process
};

/// The data of one rank.
struct alignas(platform::smallest_page) RankBlock {
    alignas(platform::apart) std::atomic<RankState> state;
    std::atomic<std::int32_t> process;
    /// What tells whose number `process` is: processes in different namespaces may have the same. 0: not known.
    std::atomic<std::uint64_t> process_namespace;
    std::atomic<std::uint64_t> probe; ///< address of this block in that process, to find out whether others reach it
    std::atomic<std::uint64_t> beats; ///< heartbeats of its agent, watched by its neighbours; 0: it has none
    /// Not 0: the launcher has read output of this rank for which the rank has not asked for a place
    /// (launch/streams/output_relay.hpp).
    std::atomic<std::uint32_t> output_read;
    wait::Bell bell; ///< wakes threads of this rank that wait for other ranks
    Inbox inbox;
    Correspondents correspondents;
    MessageCall call;
    std::array<Transfer, 16> transfers;
    std::array<MemberBlock, most_groups> groups; ///< the first is that of the job
};

struct alignas(platform::smallest_page) Header {
    std::uint64_t version;
    std::uint64_t ranks;
    std::uint64_t arena_bytes;
    std::uint64_t identity; ///< of this memory: a random number
    /// The number of ranks of the job, on all hosts, that are known to be stopped. Until they continue, missing
    /// heartbeats mean nothing. Set by kumiki-run.
    std::atomic<std::uint32_t> stopped;
};

constexpr std::size_t channel_offset(std::size_t ranks) { return sizeof(Header) + ranks * sizeof(RankBlock); }

constexpr std::size_t arena_offset(std::size_t ranks) {
    return platform::round_up(channel_offset(ranks) + ranks * ranks * sizeof(Channel), platform::huge_page);
}

} // namespace kumiki::fabric::shm
