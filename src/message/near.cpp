#include "message/near.hpp"

#include <algorithm>

namespace kumiki::message {

using fabric::shm::Board;
using fabric::shm::CellContent;
using fabric::shm::Channel;

namespace {

template <class T>
void put_in(CellContent& cell, const T& value) {
    static_assert(sizeof(T) <= CellContent::capacity);
    std::memcpy(cell.payload.data(), &value, sizeof(T));
}
template <class T>
T get_from(const CellContent& cell) {
    T value;
    std::memcpy(&value, cell.payload.data(), sizeof(T));
    return value;
}

} // namespace

Near::Peer::Peer(fabric::Fabric& fabric, int local)
    : rank(fabric.memory().rank_on_host(local)),
      to(fabric.memory().host_channel(fabric.memory().host_rank(), local)),
      from(fabric.memory().host_channel(local, fabric.memory().host_rank())) {}

Near::Near(RequestTable& table, Ways ways, std::size_t fragment, std::size_t longest_part)
    : table_(table),
      copier_(table, ways, fragment, longest_part),
      fragment_(fragment == 0 ? Channel::slot_bytes : std::min(fragment, Channel::slot_bytes)),
      known_(static_cast<std::size_t>(table.fabric.memory().host_size())) {
    for (int local = 0; local < table.fabric.memory().host_size(); ++local)
        peers_.push_back(std::make_unique<Peer>(table.fabric, local));
}

// -- sending --

Request* Near::send(int rank, int tag, std::span<const std::byte> data) {
    Peer& to = peer(rank);
    const bool had_work = to.has_work();
    // No message may overtake one that waits.
    const Start started = to.unsent.empty() ? start(to, tag, data) : Start::no_room;
    if (started == Start::complete) [[likely]]
        return nullptr;
    Request& request = table_.open(rank, tag, const_cast<std::byte*>(data.data()), data.size());
    if (started == Start::to_announce) announce(to, request);
    else to.unsent.push_back(request);
    expect_work(to, had_work);
    return &request;
}

Near::Start Near::start(Peer& to, int tag, std::span<const std::byte> data) {
    if (!to.to.has_room()) return Start::no_room;
    CellContent& cell = to.to.next();
    if (data.size() <= CellContent::capacity && may_send_small(to)) {
        cell.kind = static_cast<std::uint8_t>(Kind::small);
        RequestTable::copy_short(cell.payload.data(), data.data(), data.size());
        ++to.sent_small;
    } else if (data.size() <= fragment_) {
        const int slot = to.to.take_slot(slots_for_fragments);
        if (slot < 0) return Start::to_announce;
        table_.fabric.memory().copy(to.to.slot(slot), data.data(), data.size());
        cell.kind = static_cast<std::uint8_t>(Kind::area);
        cell.slot = static_cast<std::uint8_t>(slot);
        table_.fragments.fetch_add(1, std::memory_order_relaxed);
    } else return Start::to_announce;
    cell.bytes = static_cast<std::uint16_t>(data.size());
    cell.tag = tag;
    publish(to);
    return Start::complete;
}

/// The same for a send that has waited; returns false when it must keep waiting.
bool Near::start(Peer& to, Request& send) {
    switch (start(to, send.tag, {send.data, send.bytes})) {
    case Start::no_room: return false;
    case Start::complete: table_.complete(send); return true;
    case Start::to_announce: announce(to, send); return true;
    }
    return false;
}

/// The channel must have room.
void Near::announce(Peer& to, Request& send) {
    CellContent& cell = to.to.next();
    cell.kind = static_cast<std::uint8_t>(Kind::announce);
    cell.tag = send.tag;
    const bool in_region = send.bytes > 0 && table_.fabric.memory().in_region(send.data, send.bytes);
    put_in(cell, Announcement{send.bytes, number_of(send), reinterpret_cast<std::uintptr_t>(send.data),
                              in_region ? table_.fabric.memory().offset(send.data) : Board::nowhere});
    publish(to);
}

void Near::publish(Peer& to) {
    to.to.publish();
    if (!to.introduced) [[unlikely]]
        introduce(to);
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
    CellContent content{};
    content.kind = static_cast<std::uint8_t>(kind);
    put_in(content, reply);
    if (to.replies.empty() && to.to.has_room()) {
        to.to.next() = content;
        return publish(to);
    }
    const bool had_work = to.has_work();
    to.replies.push_back(content);
    expect_work(to, had_work);
}

void Near::expect_work(Peer& to, bool had_work) {
    const int more = static_cast<int>(to.has_work()) - static_cast<int>(had_work);
    if (more != 0) working_.fetch_add(more, std::memory_order_relaxed);
}

void Near::send_waiting(Peer& to) {
    if (!to.has_work()) return;
    for (; !to.replies.empty() && to.to.has_room(); to.replies.pop_front()) {
        to.to.next() = to.replies.front();
        publish(to);
    }
    while (Request* first = to.unsent.front()) {
        if (!start(to, *first)) break;
        to.unsent.remove(*first);
    }
    send_fragments(to);
    expect_work(to, true);
}

/// Copies fragments into the area; each copy overlaps with the receiver's copy of the previous fragment.
void Near::send_fragments(Peer& to) {
    while (Request* send = to.flowing.front()) {
        if (!to.to.has_room()) return;
        const int slot = to.to.take_slot(0);
        if (slot < 0) return;
        const std::size_t bytes = std::min(fragment_, send->length - send->moved);
        table_.fabric.memory().copy(to.to.slot(slot), send->data + send->moved, bytes);
        CellContent& cell = to.to.next();
        cell.kind = static_cast<std::uint8_t>(Kind::fragment);
        cell.slot = static_cast<std::uint8_t>(slot);
        cell.bytes = static_cast<std::uint16_t>(bytes);
        put_in(cell, Reply{send->token, send->moved});
        publish(to);
        table_.fragments.fetch_add(1, std::memory_order_relaxed);
        send->moved += bytes;
        if (send->moved < send->length) continue;
        to.flowing.remove(*send);
        table_.complete(*send);
    }
}

int Near::slots_in_use() {
    int used = 0;
    for (const auto& each : peers_) used += each->to.slots_in_use();
    return used;
}

// -- receiving --

void Near::progress() {
    if (table_.fabric.memory().own().correspondents.count.load(std::memory_order_acquire) !=
        introductions_.load(std::memory_order_relaxed))
        meet_new_peers();
    for (int i = 0, known = known_count_.load(std::memory_order_relaxed); i < known; ++i)
        take(*known_[static_cast<std::size_t>(i)]);
    if (working_.load(std::memory_order_relaxed) != 0)
        for (const auto& each : peers_) send_waiting(*each);
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
void Near::take(Peer& from) {
    std::size_t taken = 0;
    for (; taken < Channel::cells && from.from.has_arrived(); ++taken) {
        take(from, from.from.next());
        from.from.pass();
    }
    if (taken > 0) table_.fabric.progress().ring(from.rank); // the sender may wait for room
}

void Near::take(Peer& from, const CellContent& cell) {
    switch (static_cast<Kind>(cell.kind)) {
    case Kind::small:
        if (Request* receive = table_.matching.receive_for(from.rank, cell.tag)) {
            table_.deliver(*receive, from.rank, cell.tag, {cell.payload.data(), cell.bytes});
            return from.from.settle();
        } else {
            Arrival& kept = table_.arrival(from.rank, cell.tag, cell.bytes, Arrival::Place::here);
            kept.here = cell.payload;
            return table_.matching.keep(kept);
        }
    case Kind::area: return take_area(from, cell);
    case Kind::announce: return take_announcement(from, cell);
    case Kind::fragment: return take_fragment(from, cell);
    case Kind::share: {
        const auto [request, number] = get_from<Reply>(cell);
        return copier_.push(request_at(request), table_.fabric.memory().block(from.rank).transfers[number]);
    }
    case Kind::flow: {
        const auto [request, token] = get_from<Reply>(cell);
        const bool had_work = from.has_work();
        request_at(request).token = token;
        from.flowing.push_back(request_at(request));
        return expect_work(from, had_work);
    }
    case Kind::finished: return table_.complete(request_at(get_from<Reply>(cell).request));
    }
}

void Near::take_area(Peer& from, const CellContent& cell) {
    if (Request* receive = table_.matching.receive_for(from.rank, cell.tag)) {
        table_.deliver(*receive, from.rank, cell.tag, {from.from.slot(cell.slot), cell.bytes});
        return from.from.return_slot(cell.slot);
    }
    Arrival& kept = table_.arrival(from.rank, cell.tag, cell.bytes, Arrival::Place::slot);
    kept.slot = cell.slot;
    table_.matching.keep(kept);
}

void Near::take_announcement(Peer& from, const CellContent& cell) {
    const auto announced = get_from<Announcement>(cell);
    if (Request* receive = table_.matching.receive_for(from.rank, cell.tag)) {
        receive->rank = from.rank;
        receive->tag = cell.tag;
        return fetch(*receive, announced);
    }
    Arrival& kept = table_.arrival(from.rank, cell.tag, announced.bytes, Arrival::Place::announced);
    kept.announcement = announced;
    table_.matching.keep(kept);
}

void Near::take_fragment(Peer& from, const CellContent& cell) {
    const auto [request, at] = get_from<Reply>(cell);
    Request& receive = request_at(request);
    table_.fabric.memory().copy(receive.data + at, from.from.slot(cell.slot), cell.bytes);
    from.from.return_slot(cell.slot);
    receive.moved += cell.bytes;
    if (receive.moved == receive.length) table_.complete(receive);
}

void Near::give(Request& receive, Arrival& arrival) {
    Peer& from = peer(arrival.source);
    if (arrival.place == Arrival::Place::here) {
        table_.deliver(receive, arrival.source, arrival.tag, {arrival.here.data(), arrival.bytes});
        from.from.settle();
    } else if (arrival.place == Arrival::Place::slot) {
        table_.deliver(receive, arrival.source, arrival.tag, {from.from.slot(arrival.slot), arrival.bytes});
        from.from.return_slot(arrival.slot);
        table_.fabric.progress().ring(from.rank); // fragments may wait for this slot
    } else {
        receive.rank = arrival.source;
        receive.tag = arrival.tag;
        fetch(receive, arrival.announcement);
    }
}

/// Starts the transfer of a message that is still at its sender, once its receive is known.
void Near::fetch(Request& receive, const Announcement& announced) {
    const int source = receive.rank;
    if (!RequestTable::address(receive, source, receive.tag, announced.bytes) || announced.bytes == 0) {
        tell_finished(source, announced.request);
        return table_.complete(receive);
    }
    receive.token = announced.request;
    receive.moved = 0;
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
