// What the arrival of a message does, in whichever thread receives it.
#include <algorithm>
#include <utility>

#include "fabric/fabric.hpp"
#include "fabric/signal.hpp"

namespace kumiki::fabric {

bool Network::poll() {
    agent_.relieve();
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && progress();
}

bool Network::progress() {
    bool anything = transport_->progress();
    if (!waiting_.empty()) anything = deliver_waiting() || anything;
    if (guest_ != nullptr) anything = guest_->pump() || anything;
    return anything;
}

void Network::receive(const MessageHeader& header, std::span<const std::byte> payload) {
    life_->seen(hosts_.host_of(header.source));
    switch (header.kind) {
    case MessageKind::put: return place(header, payload);
    case MessageKind::get: return answer_get(header);
    case MessageKind::got: return take_got(header, payload);
    case MessageKind::atomic: return answer_atomic(header);
    case MessageKind::flush: {
        MessageHeader answer = this->header(MessageKind::answer);
        answer.ticket = header.ticket;
        return post(header.source, answer);
    }
    case MessageKind::answer:
        Ticket::of(header).value = header.value;
        Ticket::of(header).left.fetch_sub(1, std::memory_order_release);
        return fabric_.ring(rank_);
    case MessageKind::active_message: return take_active_message(header, payload);
    case MessageKind::credit: credits_.give_back(header.source, header.value); return fabric_.ring(rank_);
    case MessageKind::mail:
        if (mail_.take(header, payload)) fabric_.ring(rank_);
        return;
    case MessageKind::message: return take_message(header, payload);
    case MessageKind::barrier: return barrier_->heard(static_cast<int>(header.value), header.ticket);
    case MessageKind::arrived: return barrier_->enter(header.ticket);
    case MessageKind::burst:
        return Burst::open(payload,
                           [this](const MessageHeader& each, std::span<const std::byte> part) { receive(each, part); });
    case MessageKind::sign_of_life: return compare_calls(header.source, header.value);
    case MessageKind::difference:
        fabric_.report_difference({header.source, header.value}, {static_cast<int>(header.offset), header.ticket});
        return;
    }
}

void Network::place(const MessageHeader& header, std::span<const std::byte> payload) {
    const trace::Span span(fabric_.trace(), "place", header.source, payload.size());
    if (!payload.empty())
        fabric_.copy_part(fabric_.own_arena() + header.offset, payload.data(), payload.size(), header.bytes);
    if (header.operation == MessageHeader::no_signal) return;
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(fabric_.own_arena() + header.signal);
    raise(word, static_cast<kumiki_signal_operation>(header.operation), header.value);
    fabric_.ring(rank_);
}

/// The region's memory is sent as it is: it stays until all ranks have released it, and who waits for an answer has
/// not.
void Network::answer_get(const MessageHeader& request) {
    MessageHeader answer = header(MessageKind::got);
    answer.ticket = request.ticket;
    answer.bytes = request.bytes;
    const std::byte* from = fabric_.own_arena() + request.offset;
    for (std::uint64_t at = 0; at < request.bytes; at += Transport::longest_payload) {
        answer.offset = at;
        post(request.source, answer, {from + at, std::min(Transport::longest_payload, request.bytes - at)}, 0);
    }
}

void Network::take_got(const MessageHeader& header, std::span<const std::byte> payload) {
    Ticket& ticket = Ticket::of(header);
    fabric_.copy_part(ticket.into + header.offset, payload.data(), payload.size(), header.bytes);
    ticket.left.fetch_sub(payload.size(), std::memory_order_release);
    fabric_.ring(rank_);
}

void Network::answer_atomic(const MessageHeader& request) {
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(fabric_.own_arena() + request.signal);
    MessageHeader answer = header(MessageKind::answer);
    answer.ticket = request.ticket;
    switch (static_cast<Atomic>(request.operation)) {
    case Atomic::fetch_add: answer.value = word.fetch_add(request.value); break;
    case Atomic::swap: answer.value = word.exchange(request.value); break;
    case Atomic::compare_swap:
        answer.value = request.offset;
        word.compare_exchange_strong(answer.value, request.value);
        break;
    }
    fabric_.ring(rank_); // signals are words too
    post(request.source, answer);
}

void Network::take_active_message(const MessageHeader& header, std::span<const std::byte> payload) {
    const int handler = static_cast<int>(header.value);
    if (waiting_.empty() && accept(header.source, handler, payload)) return;
    waiting_.push_back({header.source, handler, {payload.begin(), payload.end()}});
}

void Network::admit(Guest* guest) {
    const std::lock_guard lock(mutex_);
    guest_ = guest;
    had_guest_ = true;
    for (const Early& each : std::exchange(early_, {}))
        if (guest_ != nullptr) guest_->receive(each.header, each.payload);
}

void Network::take_message(const MessageHeader& header, std::span<const std::byte> payload) {
    if (guest_ != nullptr) guest_->receive(header, payload);
    else if (!had_guest_) early_.push_back({header, {payload.begin(), payload.end()}});
}

bool Network::accept(int source, int handler, std::span<const std::byte> payload) {
    if (!fabric_.messenger().accept(source, handler, payload)) return false;
    if (const auto taken = credits_.taken(source)) {
        MessageHeader message = header(MessageKind::credit);
        message.value = *taken;
        post(source, message);
    }
    return true;
}

bool Network::deliver_waiting() {
    bool any = false;
    while (!waiting_.empty()) {
        const Waiting& first = waiting_.front();
        if (!accept(first.source, first.handler, first.payload)) break;
        waiting_.pop_front();
        any = true;
    }
    return any;
}

/// The hosts' barrier is complete: the ranks of this host may go on.
void Network::open_gate(std::uint64_t epoch) {
    wait::Gate& gate = fabric_.header().job;
    // Nobody arrives at the next barrier before this one is open.
    gate.arrived.value.store(0, std::memory_order_relaxed);
    gate.epoch.value.store(epoch, std::memory_order_release);
    for (int local = 0; local < fabric_.host_size(); ++local) fabric_.ring_on_host(local);
}

void Network::compare_calls(int leader, shm::CallNote theirs) {
    const auto self = fabric_.self();
    if (!shm::differ(self.note, theirs)) return;
    if (fabric_.report_difference(self, {leader, theirs})) post_difference();
}

void Network::tell_difference() {
    const std::lock_guard lock(mutex_);
    post_difference();
}

void Network::post_difference() {
    const auto& [one, other] = fabric_.header().differing.party;
    MessageHeader message = header(MessageKind::difference);
    message.source = one.rank.load(std::memory_order_relaxed);
    message.value = one.note.load(std::memory_order_relaxed);
    message.offset = static_cast<std::uint64_t>(other.rank.load(std::memory_order_relaxed));
    message.ticket = other.note.load(std::memory_order_relaxed);
    post_to_hosts(message);
}

void Network::post_to_hosts(const MessageHeader& header) {
    for (int host = 0; host < hosts_.count(); ++host)
        if (host != hosts_.own()) post(hosts_.leader(host), header);
}

} // namespace kumiki::fabric
