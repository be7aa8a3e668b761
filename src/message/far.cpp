#include "message/far.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

namespace kumiki::message {

using fabric::MessageHeader;
using fabric::Transport;

namespace {

bool is_tag(std::uint64_t value) { return value <= static_cast<std::uint64_t>(std::numeric_limits<int>::max()); }

} // namespace

Far::Far(RequestTable& table, fabric::Network& network, std::size_t fragment, std::size_t longest)
    : table_(table),
      network_(network),
      whole_(fragment == 0 ? network.limits().part : std::min(fragment, network.limits().part)),
      fragment_(longest == 0 ? whole_ : std::min(whole_, longest)),
      peers_(static_cast<std::size_t>(table.fabric.size())) {
    network_.admit(fabric::SinkId::messages, *this);
}

MessageHeader Far::header(Kind kind, std::uint64_t ticket, std::uint64_t value) const {
    MessageHeader made = network_.header(fabric::SinkId::messages);
    made.operation = static_cast<std::uint8_t>(kind);
    made.ticket = ticket;
    made.value = value;
    return made;
}

// -- sending --

Result<Request*> Far::send(int rank, int tag, std::span<const std::byte> data) {
    Peer& to = peer(rank);
    const std::uint64_t open = to.sent.load(std::memory_order_relaxed) - to.returned.load(std::memory_order_relaxed);
    if (data.size() <= whole_ && open + weight(data.size()) <= window) {
        to.sent.fetch_add(weight(data.size()), std::memory_order_relaxed);
        table_.fragments.fetch_add(1, std::memory_order_relaxed);
        return send_whole(rank, tag, data);
    }
    auto kept = RequestTable::keep(data);
    const bool is_kept = kept != nullptr;
    Request& request = open_send(rank, tag, data, std::move(kept));
    request.number = sends_.open(request);
    MessageHeader announced = header(Kind::announce, request.number, static_cast<std::uint64_t>(tag));
    announced.bytes = data.size();
    if (auto sent = network_.send(rank, announced); !sent) return tl::unexpected(sent.error());
    return is_kept ? nullptr : &request;
}

Result<Request*> Far::send_whole(int rank, int tag, std::span<const std::byte> data) {
    MessageHeader whole = header(Kind::whole, 0, static_cast<std::uint64_t>(tag));
    whole.bytes = data.size();
    if (data.size() <= Transport::longest_kept) {
        if (auto sent = network_.send_soon(rank, whole, data); !sent) return tl::unexpected(sent.error());
        return nullptr;
    }
    Request& request = open_send(rank, tag, data, nullptr);
    const auto left = network_.post_now(rank, whole, data, number_of(request));
    if (left && !*left) return &request;
    Pool<Request>::give_back(request);
    if (!left) return tl::unexpected(left.error());
    return nullptr;
}

Request& Far::open_send(int rank, int tag, std::span<const std::byte> data, std::unique_ptr<std::byte[]> kept) {
    const std::lock_guard lock(table_.lock);
    return table_.open_send(rank, tag, data, std::move(kept));
}

/// `ticket` is the send of a whole message or of a fragment.
void Far::left(std::uint64_t ticket) {
    Request& send = request_at(ticket);
    const auto flow = std::ranges::find(flows_, &send, &Flow::send);
    if (flow == flows_.end()) table_.complete(send);
    else flow->posted = false;
}

bool Far::pump() {
    bool sent = false;
    for (auto flow = flows_.begin(); flow != flows_.end();) {
        sent = pump(*flow) || sent;
        Request& send = *flow->send;
        if (send.moved == send.length && !flow->posted) {
            flow = flows_.erase(flow);
            sends_.close(send.number);
            table_.complete(send);
        } else ++flow;
    }
    return sent;
}

/// Sends the next fragment if the window allows it and the previous one has left. So only a few bytes wait for room on
/// the connection, and a short message finds it nearly free.
bool Far::pump(Flow& flow) {
    Request& send = *flow.send;
    if (flow.posted || send.moved == send.length || send.moved - flow.passed >= window) return false;
    const std::size_t bytes = std::min(fragment_, send.length - send.moved);
    const trace::Span span(table_.fabric.trace(), "send_fragment", send.rank, bytes);
    MessageHeader fragment = header(Kind::fragment, send.token);
    fragment.offset = send.moved;
    fragment.bytes = bytes;
    flow.posted = !network_.post(send.rank, fragment, {send.data + send.moved, bytes}, number_of(send));
    table_.fragments.fetch_add(1, std::memory_order_relaxed);
    send.moved += bytes;
    return true;
}

// -- receiving --

bool Far::receive(const MessageHeader& header, std::span<const std::byte> payload) {
    switch (static_cast<Kind>(header.operation)) {
    case Kind::whole: return take_whole(header, payload);
    case Kind::announce: return take_announcement(header);
    case Kind::clear: return begin(header);
    case Kind::fragment: return take_fragment(header, payload);
    case Kind::passed: return note_passed(header);
    case Kind::finished: return finish(header);
    case Kind::credit: return take_credit(header);
    }
    return false;
}

/// Returns the send that the message names, if it goes to the message's source and none of its fragments has been
/// requested yet.
Request* Far::waiting_send(const MessageHeader& header) {
    Request* const send = sends_.find(header.ticket);
    const bool waits =
        send != nullptr && send->rank == header.source && std::ranges::find(flows_, send, &Flow::send) == flows_.end();
    return waits ? send : nullptr;
}

bool Far::begin(const MessageHeader& header) {
    Request* const send = waiting_send(header);
    if (send == nullptr) return false;
    send->token = header.value;
    flows_.push_back({send});
    return true;
}

/// The whole message may have left before this report arrives; then there is no flow for it.
bool Far::note_passed(const MessageHeader& header) {
    const auto flow = std::ranges::find(flows_, header.ticket, [](const Flow& each) { return each.send->number; });
    if (flow == flows_.end()) return true;
    if (flow->send->rank != header.source || header.value < flow->passed || header.value > flow->send->moved)
        return false;
    flow->passed = header.value;
    return true;
}

bool Far::finish(const MessageHeader& header) {
    Request* const send = waiting_send(header);
    if (send == nullptr) return false;
    sends_.close(header.ticket);
    table_.complete(*send);
    return true;
}

bool Far::take_credit(const MessageHeader& header) {
    Peer& to = peer(header.source);
    if (header.value > to.sent.load(std::memory_order_relaxed)) return false;
    to.returned.store(std::max(to.returned.load(std::memory_order_relaxed), header.value), std::memory_order_relaxed);
    return true;
}

bool Far::take_whole(const MessageHeader& header, std::span<const std::byte> payload) {
    if (!is_tag(header.value) || header.bytes != payload.size()) return false;
    const int tag = static_cast<int>(header.value);
    Request* receive = nullptr;
    {
        const std::lock_guard lock(table_.lock);
        receive = table_.matching.receive_for(header.source, tag);
        if (receive == nullptr) {
            Arrival& kept = table_.arrival(header.source, tag, payload.size(), Arrival::Place::kept);
            kept.kept.assign(payload.begin(), payload.end());
            table_.matching.keep(kept);
        }
    }
    if (receive == nullptr) {
        table_.fabric.progress().ring(table_.fabric.rank()); // a probing thread may wait for it
        return true;
    }
    table_.deliver(*receive, header.source, tag, payload);
    if (MessageHeader credit; settle(header.source, payload.size(), credit)) network_.post(header.source, credit);
    return true;
}

bool Far::take_announcement(const MessageHeader& header) {
    if (!is_tag(header.value)) return false;
    const int tag = static_cast<int>(header.value);
    Request* receive = nullptr;
    {
        const std::lock_guard lock(table_.lock);
        receive = table_.matching.receive_for(header.source, tag);
        if (receive == nullptr) {
            Arrival& kept = table_.arrival(header.source, tag, header.bytes, Arrival::Place::announced);
            kept.announcement = {header.bytes, header.ticket, 0, 0};
            table_.matching.keep(kept);
        }
    }
    if (receive == nullptr) {
        table_.fabric.progress().ring(table_.fabric.rank());
        return true;
    }
    receive->rank = header.source;
    receive->tag = tag;
    network_.post(header.source, answer(*receive, header.bytes, header.ticket));
    return true;
}

/// Returns the reply to the sender of an announced message whose receive is known.
MessageHeader Far::answer(Request& receive, std::uint64_t bytes, std::uint64_t ticket) {
    receive.token = ticket;
    receive.moved = 0;
    if (RequestTable::address(receive, receive.rank, receive.tag, bytes) && bytes > 0) {
        receive.number = receives_.open(receive);
        return header(Kind::clear, ticket, receive.number);
    }
    table_.complete(receive);
    return header(Kind::finished, ticket);
}

/// Fragments arrive in order.
bool Far::take_fragment(const MessageHeader& header, std::span<const std::byte> payload) {
    Request* const found = receives_.find(header.ticket);
    if (found == nullptr || found->rank != header.source || header.offset != found->moved || payload.empty() ||
        payload.size() > found->length - found->moved)
        return false;
    Request& receive = *found;
    const trace::Span span(table_.fabric.trace(), "place_fragment", header.source, payload.size());
    std::memcpy(receive.data + header.offset, payload.data(), payload.size());
    const std::size_t before = receive.moved;
    receive.moved += payload.size();
    if (receive.moved == receive.length) {
        receives_.close(header.ticket);
        table_.complete(receive);
    } else if (before / (window / 4) != receive.moved / (window / 4)) {
        network_.post(header.source, this->header(Kind::passed, receive.token, receive.moved));
    }
    return true;
}

void Far::give(Request& receive, const Arrival& arrival) {
    const int source = arrival.source;
    if (arrival.place == Arrival::Place::kept) {
        table_.deliver(receive, source, arrival.tag, arrival.kept);
        if (MessageHeader credit; settle(source, arrival.bytes, credit))
            static_cast<void>(network_.send(source, credit));
        return;
    }
    receive.rank = source;
    receive.tag = arrival.tag;
    const auto& announced = arrival.announcement;
    static_cast<void>(network_.send(source, answer(receive, announced.bytes, announced.request)));
}

/// Counts a message that has found its receive; returns true when it is time to return credit.
bool Far::settle(int source, std::size_t bytes, MessageHeader& credit) {
    constexpr std::uint64_t step = window / 4;
    const std::uint64_t before = peer(source).settled.fetch_add(weight(bytes), std::memory_order_relaxed);
    const std::uint64_t now = before + weight(bytes);
    if (before / step == now / step) return false;
    credit = header(Kind::credit, 0, now);
    return true;
}

} // namespace kumiki::message
