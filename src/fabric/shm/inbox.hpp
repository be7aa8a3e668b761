#pragma once

#include <cstddef>
#include <span>

#include "fabric/shm/layout.hpp"

/// The bounded queue of active messages of a rank: many senders, one receiver at a time.
///
/// A slot's `turn` orders everything: in lap k of the ring it is 2k when free and 2k + 1 when full. A sender claims the
/// place `tail` by compare-and-swap while that place's slot is free, fills the slot and releases it as full; the
/// receiver acquires that, copies the message out and releases the slot as free for lap k + 1. Only `turn` carries data
/// between threads; `tail` and `head` only number the places.
namespace kumiki::fabric::shm {

struct ActiveMessage {
    int source;
    int handler;
    std::size_t bytes;
    std::array<std::byte, InboxSlot::capacity> payload;
};

/// Puts a message into the inbox; false when it is full. payload.size() is at most InboxSlot::capacity.
bool try_send(Inbox& inbox, int source, int handler, std::span<const std::byte> payload);

/// Whether a message has arrived. Cheap enough for polling.
inline bool has_message(const Inbox& inbox) {
    const std::uint64_t head = inbox.head.load(std::memory_order_relaxed);
    return inbox.slot[head % Inbox::slots].turn.load(std::memory_order_acquire) == 2 * (head / Inbox::slots) + 1;
}

/// Takes the oldest message out. Only the thread that holds Inbox::busy may call it, after has_message() returned true.
void receive(Inbox& inbox, ActiveMessage& message);

} // namespace kumiki::fabric::shm
