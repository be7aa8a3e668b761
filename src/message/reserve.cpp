#include <new>

#include "message/copies.hpp"
#include "message/near.hpp"

// Long messages without the receiver's program (F23, F24): the part of Near that is run by the agent, and by threads
// that call it.
namespace kumiki::message {

void Near::note_answered(Peer& from) {
    --from.unanswered;
    unanswered_.fetch_sub(1, std::memory_order_relaxed);
}

/// In a crowded job a thread that waits falls asleep soon, and the agents would take the processors from the programs;
/// so there only a rank that is not waiting in the library is called.
void Near::call_agents() {
    if (unanswered_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(table_.lock);
    for (const auto& each : peers_) {
        if (each->unanswered == 0) continue;
        const auto& theirs = table_.fabric.memory().block(each->rank);
        if (table_.fabric.progress().crowded() && theirs.bell.sleepers.load(std::memory_order_relaxed) != 0) continue;
        call_agent(each->rank);
    }
}

void Near::call_agent(int rank) {
    auto& call = table_.fabric.memory().block(rank).call;
    call.open.store(1, std::memory_order_release);
    wait::ring(call.bell, table_.fabric.progress().patience());
}

void Near::serve() {
    progress();
    {
        const std::lock_guard lock(table_.lock);
        for (Arrival* each = table_.matching.first_arrival(); each != nullptr; each = each->next)
            if (each->place == Arrival::Place::announced && !table_.fabric.memory().is_remote(each->source))
                reserve(*each);
    }
    while (copy(Copier::Which::alone)) {}
}

/// Begins to copy an announced message into the reserve, if that has room.
void Near::reserve(Arrival& arrival) {
    if (arrival.bytes > reserve_.load()) {
        refused_.store(true);
        if (arrival.bytes > reserve_.load()) return; // hand_over() calls the agent again
    }
    arrival.reserved.reset(new (std::nothrow) std::byte[arrival.bytes]);
    if (arrival.reserved == nullptr) return;
    const trace::Span span(table_.fabric.trace(), "reserve_message", arrival.source, arrival.bytes);
    reserve_.fetch_sub(arrival.bytes);
    arrival.place = Arrival::Place::reserved;
    arrival.transfer = &table_.open(arrival.source, arrival.tag, arrival.reserved.get(), arrival.bytes);
    fetch(*arrival.transfer, arrival.announcement);
}

/// Collects the messages of the reserve that are complete and have a receive.
void Near::take_promised(Copies& copies) {
    for (Arrival* each = promised_.front(); each != nullptr;) {
        Arrival& looked_at = *each;
        each = each->next;
        if (!looked_at.transfer->done.load(std::memory_order_acquire)) continue;
        promised_.remove(looked_at);
        promised_count_.fetch_sub(1, std::memory_order_relaxed);
        copies.reserved.push_back(looked_at);
    }
}

/// Copies a message of the reserve into the memory of its receive. The agent is called again if a message has found no
/// room before: these accesses and those of reserve() have a single total order (sequential consistency), so either
/// this thread sees that one was refused, or the agent sees the room.
void Near::hand_over(Arrival& arrival) {
    platform::expect_no_lock("a message is stored");
    Request& receive = *arrival.receive;
    if (RequestTable::address(receive, arrival.source, arrival.tag, arrival.bytes) && !arrival.transfer->broken)
        table_.fabric.memory().copy(receive.data, arrival.reserved.get(), arrival.bytes);
    receive.broken = arrival.transfer->broken;
    Pool<Request>::give_back(*arrival.transfer);
    arrival.reserved.reset();
    reserve_.fetch_add(arrival.bytes);
    if (refused_.exchange(false)) call_agent(table_.fabric.rank());
    Pool<Arrival>::give_back(arrival);
    table_.complete(receive);
}

} // namespace kumiki::message
