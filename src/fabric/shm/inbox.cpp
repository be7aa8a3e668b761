#include "fabric/shm/inbox.hpp"

#include <cstring>

namespace kumiki::fabric::shm {

bool try_send(Inbox& inbox, int source, int handler, std::span<const std::byte> payload) {
    std::uint64_t place = inbox.tail.load(std::memory_order_relaxed);
    for (;;) {
        InboxSlot& slot = inbox.slot[place % Inbox::slots];
        const std::uint64_t free = 2 * (place / Inbox::slots);
        const std::uint64_t turn = slot.turn.load(std::memory_order_acquire);
        if (turn < free) return false; // the message of the previous lap is still there
        if (turn > free) {             // another sender was faster
            place = inbox.tail.load(std::memory_order_relaxed);
            continue;
        }
        if (!inbox.tail.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
        slot.source = source;
        slot.handler = handler;
        slot.bytes = payload.size();
        if (!payload.empty()) std::memcpy(slot.payload.data(), payload.data(), payload.size());
        slot.turn.store(free + 1, std::memory_order_release);
        return true;
    }
}

void receive(Inbox& inbox, ActiveMessage& message) {
    const std::uint64_t head = inbox.head.load(std::memory_order_relaxed);
    InboxSlot& slot = inbox.slot[head % Inbox::slots];
    message.source = slot.source;
    message.handler = slot.handler;
    message.bytes = slot.bytes;
    std::memcpy(message.payload.data(), slot.payload.data(), message.bytes);
    slot.turn.store(2 * (head / Inbox::slots + 1), std::memory_order_release);
    // Relaxed order suffices: the next holder of `busy` sees the new head through that lock's acquire and release.
    inbox.head.store(head + 1, std::memory_order_relaxed);
}

} // namespace kumiki::fabric::shm
