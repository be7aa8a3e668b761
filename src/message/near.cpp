#include "message/near.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "message/copies.hpp"
#include "platform/held_locks.hpp"
#include "platform/overwrite.hpp"

namespace kumiki::message {

using fabric::shm::Board;
using fabric::shm::CellContent;
using fabric::shm::Channel;
using fabric::shm::SlotSet;

namespace {

/// The slots that whole messages may use.
constexpr SlotSet for_messages =
    fabric::shm::long_slots & ~(((SlotSet{1} << Near::slots_for_fragments) - 1) << Channel::short_slots);

int cells_of(std::size_t small_bytes) { return small_bytes <= CellContent::capacity ? 1 : 2; }

/// Copies a small message out of its cells.
void copy_small(std::byte* to, const CellContent& cell, const std::byte* rest) {
    if (cell.bytes <= CellContent::capacity) return RequestTable::copy_short(to, cell.payload.data(), cell.bytes);
    std::memcpy(to, cell.payload.data(), CellContent::capacity);
    std::memcpy(to + CellContent::capacity, rest, cell.bytes - CellContent::capacity);
}

} // namespace

Near::Peer::Peer(fabric::Fabric& fabric, int local)
    : rank(fabric.memory().rank_on_host(local)),
      to(fabric.memory().host_channel(fabric.memory().host_rank(), local)),
      from(fabric.memory().host_channel(local, fabric.memory().host_rank())) {}

Near::Near(RequestTable& table, Ways ways, std::size_t fragment, std::size_t longest_part, std::size_t reserve)
    : table_(table),
      copier_(table, ways, fragment, longest_part),
      fragment_(fragment == 0 ? Channel::slot_bytes : std::min(fragment, Channel::slot_bytes)),
      known_(static_cast<std::size_t>(table.fabric.memory().host_size())),
      reserve_(reserve) {
    for (int local = 0; local < table.fabric.memory().host_size(); ++local)
        peers_.push_back(std::make_unique<Peer>(table.fabric, local));
}

// -- sending --

/// A place is claimed under the lock and filled without it. Without a place, a message waits in the queue or stays at
/// the sender.
Request* Near::send(int rank, int tag, std::span<const std::byte> data) {
    Peer& to = peer(rank);
    std::optional<Place> place;
    {
        const std::lock_guard lock(table_.lock);
        if (to.unsent.empty()) [[likely]] // no message may overtake one that waits
            place = claim(to, data.size());
    }
    if (!place) [[unlikely]]
        return send_later(to, tag, data);
    fill(to, *place, tag, data);
    return nullptr;
}

[[gnu::always_inline]] inline std::optional<Near::Place> Near::claim(Peer& to, std::size_t bytes) {
    if (!to.to.has_room()) return std::nullopt;
    int slot = Place::in_cell;
    int cells = 1;
    if (bytes <= most_in_cells) {
        if (!may_send_small(to)) return std::nullopt;
        ++to.sent_small;
        cells = cells_of(bytes);
    } else {
        if (bytes > fragment_) return std::nullopt;
        slot = to.to.take_slot(bytes <= Channel::short_slot_bytes ? fabric::shm::short_slots : for_messages);
        if (slot < 0) return std::nullopt;
        filled_slots_.store(filled_slots_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    return Place{claim_cells(to, cells), slot};
}

/// Other messages may be published meanwhile; the receiver sees them in the order of their cells. The cell is written
/// last, all at once: the receiver looks at it again and again, and takes its line each time.
[[gnu::always_inline]] inline void Near::fill(Peer& to, Place place, int tag, std::span<const std::byte> data) {
    platform::expect_no_lock("a message is read");
    CellContent& cell = to.to.content(place.cell);
    if (place.slot == Place::in_cell) {
        const std::size_t first = std::min(data.size(), CellContent::capacity);
        if (first < data.size()) std::memcpy(to.to.rest(place.cell), data.data() + first, data.size() - first);
        cell.kind = static_cast<std::uint8_t>(Kind::small);
        RequestTable::copy_short(cell.payload.data(), data.data(), first);
    } else {
        std::byte* const slot = to.to.slot(place.slot);
        if (data.size() < platform::shortest_overwritten) table_.fabric.memory().copy(slot, data.data(), data.size());
        else platform::overwrite(slot, data.data(), data.size());
        cell.kind = static_cast<std::uint8_t>(Kind::area);
        cell.slot = static_cast<std::uint8_t>(place.slot);
    }
    cell.tag = tag;
    cell.bytes = static_cast<std::uint16_t>(data.size());
    to.to.publish(place.cell);
    table_.fabric.progress().ring(to.rank);
}

/// Sends a message for which there was no room: a short one is copied first, and of a longer one an announcement waits.
Request* Near::send_later(Peer& to, int tag, std::span<const std::byte> data) {
    CellContent cell;
    cell.tag = tag;
    cell.kind = static_cast<std::uint8_t>(Kind::announce);
    if (data.size() <= CellContent::capacity) {
        platform::expect_no_lock("a message is read");
        cell.kind = static_cast<std::uint8_t>(Kind::small);
        cell.bytes = static_cast<std::uint16_t>(data.size());
        RequestTable::copy_short(cell.payload.data(), data.data(), data.size());
    }
    auto kept = RequestTable::keep(data);
    const bool is_kept = kept != nullptr;
    const std::lock_guard lock(table_.lock);
    const bool had_work = to.has_work();
    Request& request = table_.open_send(to.rank, tag, data, std::move(kept));
    if (!to.unsent.empty() || !start(to, cell, request)) {
        Unsent& waiting = unsent_.take();
        waiting.cell = cell;
        waiting.send = &request;
        to.unsent.push_back(waiting);
    }
    expect_work(to, had_work);
    if (!is_kept) return &request;
    if (to.has_work()) call_agent(table_.fabric.rank());
    return nullptr;
}

/// Publishes such a message; returns false when it must wait for room. A small one beyond those that may wait at the
/// receiver is announced, too.
bool Near::start(Peer& to, CellContent& cell, Request& send) {
    if (!to.to.has_room()) return false;
    if (static_cast<Kind>(cell.kind) == Kind::small && may_send_small(to)) {
        ++to.sent_small;
        publish(to, cell);
        table_.complete(send);
    } else {
        announce(send, cell);
        ++to.unanswered;
        unanswered_.fetch_add(1, std::memory_order_relaxed);
        publish(to, cell);
    }
    return true;
}

void Near::announce(const Request& send, CellContent& cell) {
    const bool in_region = send.bytes > 0 && table_.fabric.memory().in_region(send.data, send.bytes);
    cell.kind = static_cast<std::uint8_t>(Kind::announce);
    cell.put(Announcement{send.bytes, number_of(send), reinterpret_cast<std::uintptr_t>(send.data),
                          in_region ? table_.fabric.memory().offset(send.data) : Board::nowhere});
}

[[gnu::always_inline]] inline std::uint64_t Near::claim_cells(Peer& to, int count) {
    if (!to.introduced) [[unlikely]]
        introduce(to);
    return to.to.claim(count);
}

/// Publishes a cell that is ready, while there is room.
void Near::publish(Peer& to, const CellContent& cell) {
    const std::uint64_t claimed = claim_cells(to, 1);
    to.to.content(claimed) = cell;
    to.to.publish(claimed);
    table_.fabric.progress().ring(to.rank);
}

void Near::introduce(Peer& to) {
    to.introduced = true;
    const auto own = static_cast<std::size_t>(table_.fabric.memory().host_rank());
    auto& theirs = table_.fabric.memory().block(to.rank).correspondents;
    theirs.known[own / 64].fetch_or(std::uint64_t{1} << (own % 64), std::memory_order_relaxed);
    theirs.count.fetch_add(1, std::memory_order_release);
}

bool Near::may_send_small(Peer& to) {
    if (to.sent_small - to.settled < most_small) return true;
    to.settled = to.to.settled();
    return to.sent_small - to.settled < most_small;
}

void Near::reply(Peer& to, Kind kind, Reply reply) {
    CellContent cell{};
    cell.kind = static_cast<std::uint8_t>(kind);
    cell.put(reply);
    post(to, cell);
}

/// Publishes a cell that is not a message, as soon as there is room.
void Near::post(Peer& to, const CellContent& cell) {
    if (to.replies.empty() && to.to.has_room()) return publish(to, cell);
    const bool had_work = to.has_work();
    to.replies.push_back(cell);
    expect_work(to, had_work);
}

void Near::expect_work(Peer& to, bool had_work) {
    const int more = static_cast<int>(to.has_work()) - static_cast<int>(had_work);
    if (more != 0) working_.fetch_add(more, std::memory_order_relaxed);
}

void Near::send_waiting(Peer& to, Copies& copies) {
    if (!to.has_work()) return;
    for (; !to.replies.empty() && to.to.has_room(); to.replies.pop_front()) publish(to, to.replies.front());
    while (Unsent* const first = to.unsent.front()) {
        if (!start(to, first->cell, *first->send)) break;
        to.unsent.remove(*first);
        Pool<Unsent>::give_back(*first);
    }
    claim_fragments(to, copies);
    expect_work(to, true);
}

/// Takes slots for the next fragments. Each copy into a slot overlaps with the receiver's copy of the previous one.
void Near::claim_fragments(Peer& to, Copies& copies) {
    while (Request* send = to.flowing.front()) {
        if (copies.leaving_full()) return table_.fabric.progress().ring(table_.fabric.rank()); // there is more to do
        const int slot = to.to.has_room() ? to.to.take_slot(fabric::shm::long_slots) : -1;
        if (slot < 0) return;
        const std::size_t bytes = std::min(fragment_, send->length - send->moved);
        copies.add_leaving() = {send, &to, send->moved, static_cast<std::uint16_t>(bytes),
                                static_cast<std::int16_t>(slot)};
        send->moved += bytes;
        if (send->moved == send->length) to.flowing.remove(*send);
    }
}

int Near::slots_in_use() {
    int used = 0;
    for (const auto& each : peers_) used += each->to.slots_in_use();
    return used;
}

// -- receiving --

void Near::progress() {
    Copies copies;
    {
        const std::lock_guard lock(table_.lock);
        if (table_.fabric.memory().own().correspondents.count.load(std::memory_order_acquire) !=
            introductions_.load(std::memory_order_relaxed))
            meet_new_peers();
        for (int i = 0, known = known_count_.load(std::memory_order_relaxed); i < known; ++i)
            take(*known_[static_cast<std::size_t>(i)], copies);
        if (working_.load(std::memory_order_relaxed) != 0)
            for (const auto& each : peers_) send_waiting(*each, copies);
        if (!promised_.empty()) [[unlikely]]
            take_promised(copies);
        // Each look takes only some of what has arrived, so that a flood of messages does not keep a thread from
        // checking its own condition. The ring prevents it from sleeping meanwhile.
        if (has_arrived()) table_.fabric.progress().ring(table_.fabric.rank());
    }
    for (const Arrived& each : copies.arrived()) store(each);
    if (copies.has_rare()) [[unlikely]]
        make_rare(copies);
}

void Near::meet_new_peers() {
    auto& own = table_.fabric.memory().own().correspondents;
    introductions_.store(own.count.load(std::memory_order_acquire), std::memory_order_relaxed);
    int known = known_count_.load(std::memory_order_relaxed);
    for (std::size_t local = 0; local < peers_.size(); ++local) {
        const bool has_sent = (own.known[local / 64].load(std::memory_order_relaxed) >> (local % 64) & 1) != 0;
        Peer* const peer = peers_[local].get();
        const auto end = known_.begin() + known;
        if (has_sent && std::find(known_.begin(), end, peer) == end) known_[static_cast<std::size_t>(known++)] = peer;
    }
    known_count_.store(known, std::memory_order_release);
}

/// Takes at most one full ring, because other peers wait, too.
void Near::take(Peer& from, Copies& copies) {
    std::size_t taken = 0;
    for (; taken < Channel::cells && !copies.arrived_full() && from.from.has_arrived(); ++taken) {
        const CellContent& cell = from.from.next();
        take(from, cell, copies);
        const bool small = static_cast<Kind>(cell.kind) == Kind::small;
        const int cells = small ? cells_of(cell.bytes) : 1;
        from.from.pass(cells);
        if (small) from.from.prefetch(cells); // longer ones take their sender longer than their receiver
    }
    if (taken == 0) return;
    from.from.release();
    table_.fabric.progress().ring(from.rank); // the sender may wait for room
}

void Near::take(Peer& from, const CellContent& cell, Copies& copies) {
    switch (static_cast<Kind>(cell.kind)) {
    case Kind::small:
    case Kind::area: return take_message(from, cell, copies);
    case Kind::announce: return take_announcement(from, cell);
    case Kind::fragment: return take_fragment(from, cell, copies);
    case Kind::share: {
        const auto [request, number] = cell.get<Reply>();
        note_answered(from);
        return copier_.push(request_at(request), table_.fabric.memory().block(from.rank).transfers[number]);
    }
    case Kind::flow: {
        const auto [request, token] = cell.get<Reply>();
        const bool had_work = from.has_work();
        note_answered(from);
        request_at(request).token = token;
        from.flowing.push_back(request_at(request));
        return expect_work(from, had_work);
    }
    case Kind::finished: note_answered(from); return table_.complete(request_at(cell.get<Reply>().request));
    }
}

void Near::take_message(Peer& from, const CellContent& cell, Copies& copies) {
    const bool small = static_cast<Kind>(cell.kind) == Kind::small;
    Request* const receive = table_.matching.receive_for(from.rank, cell.tag);
    if (receive == nullptr) {
        Arrival& kept =
            table_.arrival(from.rank, cell.tag, cell.bytes, small ? Arrival::Place::here : Arrival::Place::slot);
        if (small) copy_small(kept.here.data(), cell, from.from.rest());
        else kept.slot = cell.slot;
        return table_.matching.keep(kept);
    }
    Arrived& arrived = copies.add_arrived();
    address(arrived, *receive, from, cell.tag, cell.bytes);
    if (!small) {
        arrived.slot = cell.slot;
        return;
    }
    arrived.slot = Place::in_cell;
    copy_small(arrived.here.data(), cell, from.from.rest());
    from.from.settle();
}

void Near::take_announcement(Peer& from, const CellContent& cell) {
    const auto announced = cell.get<Announcement>();
    if (Request* receive = table_.matching.receive_for(from.rank, cell.tag)) {
        receive->rank = from.rank;
        receive->tag = cell.tag;
        return fetch(*receive, announced);
    }
    Arrival& kept = table_.arrival(from.rank, cell.tag, announced.bytes, Arrival::Place::announced);
    kept.announcement = announced;
    table_.matching.keep(kept);
}

void Near::take_fragment(Peer& from, const CellContent& cell, Copies& copies) {
    const auto [request, at] = cell.get<Reply>();
    Arrived& arrived = copies.add_arrived();
    arrived.receive = &request_at(request);
    arrived.from = &from;
    arrived.at = at;
    arrived.bytes = cell.bytes;
    arrived.slot = cell.slot;
    arrived.fragment = true;
}

void Near::give(std::unique_lock<Lock>& lock, Request& receive, Arrival& arrival) {
    Peer& from = peer(arrival.source);
    if (arrival.place == Arrival::Place::announced) {
        receive.rank = arrival.source;
        receive.tag = arrival.tag;
        fetch(receive, arrival.announcement);
        Pool<Arrival>::give_back(arrival);
        return lock.unlock();
    }
    if (arrival.place == Arrival::Place::reserved) {
        arrival.receive = &receive;
        promised_.push_back(arrival);
        promised_count_.fetch_add(1, std::memory_order_relaxed);
        lock.unlock();
        return progress();
    }
    Arrived arrived;
    address(arrived, receive, from, arrival.tag, arrival.bytes);
    if (arrival.place == Arrival::Place::here) {
        arrived.slot = Place::in_cell;
        arrived.here = arrival.here;
        from.from.settle();
        from.from.release();
    } else arrived.slot = static_cast<std::int16_t>(arrival.slot);
    Pool<Arrival>::give_back(arrival);
    lock.unlock();
    store(arrived);
}

/// Starts the transfer of a message that is still at its sender, once its receive is known.
void Near::fetch(Request& receive, const Announcement& announced) {
    const int source = receive.rank;
    if (!RequestTable::address(receive, source, receive.tag, announced.bytes) || announced.bytes == 0) {
        tell_finished(source, announced.request);
        return table_.complete(receive);
    }
    receive.token = announced.request;
    switch (copier_.pull(receive, announced)) {
    case Copier::Help::alone: return;
    case Copier::Help::shared: {
        const auto number = receive.copy.transfer - table_.fabric.memory().own().transfers.data();
        return reply(peer(source), Kind::share, {announced.request, static_cast<std::uint64_t>(number)});
    }
    case Copier::Help::no_way: return reply(peer(source), Kind::flow, {announced.request, number_of(receive)});
    }
}

} // namespace kumiki::message
