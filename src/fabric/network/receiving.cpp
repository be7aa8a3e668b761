// Carries out the messages that arrive, in the thread that receives them.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <utility>

#include "fabric/fabric.hpp"
#include "fabric/signal.hpp"

namespace kumiki::fabric {
namespace {

constexpr const char* unfitting = "does not fit what came before it";

} // namespace

bool Network::poll() {
    agent_.relieve();
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && transport_ != nullptr && progress();
}

bool Network::progress() {
    bool anything = transport_->progress();
    if (!waiting_.empty()) anything = deliver_waiting() || anything;
    anything = pump_puts() || anything;
    return sinks_.pump() || anything;
}

/// No message from the network is trusted: an invalid message is dropped, and the job continues.
void Network::receive(const MessageHeader& header, std::span<const std::byte> payload) {
    if (const char* fault = checking_->fault(header, payload)) return drop(header, fault);
    missed_of_hosts_->seen(hosts_.host_of(header.source));
    if (!carry_out(header, payload)) drop(header, unfitting);
}

/// Returns false when the message does not fit the messages before it; then nothing has been done.
bool Network::carry_out(const MessageHeader& header, std::span<const std::byte> payload) {
    switch (header.kind) {
    case MessageKind::put: place(header, payload); return true;
    case MessageKind::get: answer_get(header); return true;
    case MessageKind::got: return take_got(header, payload);
    case MessageKind::atomic: answer_atomic(header); return true;
    case MessageKind::flush: {
        MessageHeader answer = this->header(MessageKind::answer);
        answer.ticket = header.ticket;
        post(header.source, answer);
        return true;
    }
    case MessageKind::answer: return take_answer(header);
    case MessageKind::active_message: take_active_message(header, payload); return true;
    case MessageKind::credit:
        if (!credits_.give_back(header.source, header.value)) return false;
        fabric_.progress().ring(rank_);
        return true;
    case MessageKind::collective: return take_in_collective(header, payload);
    case MessageKind::message: return sinks_.receive(header, payload);
    case MessageKind::barrier: {
        GroupLink* const group = link(header.signal);
        return group != nullptr && group->heard(header.source, header.value, header.ticket);
    }
    case MessageKind::arrived: {
        GroupLink* const group = link(header.signal);
        return group != nullptr && group->arrived(header.source, header.ticket);
    }
    case MessageKind::burst: return take_burst(header.source, payload);
    case MessageKind::heartbeat: return true;
    case MessageKind::share: answer_share(header); return true;
    case MessageKind::shared: return take_shared(header, payload);
    case MessageKind::call: compare_calls(header); return true;
    case MessageKind::difference: take_difference(header); return true;
    }
    return false;
}

/// Reports once for each rank, because a rank that sends one such message is likely to send more.
void Network::drop(const MessageHeader& header, const char* fault) {
    const bool is_rank = header.source >= 0 && header.source < hosts_.size();
    const auto speaker = static_cast<std::size_t>(is_rank ? header.source : hosts_.size());
    if (dropped_[speaker]) return;
    dropped_[speaker] = true;
    fmt::print(stderr,
               "kumiki: rank {} dropped a message{}: it {} (kind {}); the job goes on, and more of them are dropped "
               "without a word\n",
               rank_, is_rank ? fmt::format(" of rank {}", header.source) : "", fault, static_cast<int>(header.kind));
}

/// All messages of a burst must name the sender of the burst, and bursts must not be nested.
bool Network::take_burst(int source, std::span<const std::byte> payload) {
    return Burst::open(payload, [&](const MessageHeader& each, std::span<const std::byte> part) {
        if (each.source != source || each.kind == MessageKind::burst)
            drop(each, "travels in the burst of another rank");
        else receive(each, part);
    });
}

void Network::place(const MessageHeader& header, std::span<const std::byte> payload) {
    const trace::Span span(fabric_.trace(), "place", header.source, payload.size());
    if (!payload.empty())
        fabric_.memory().copy_part(fabric_.memory().own_arena() + header.offset, payload.data(), payload.size(),
                                   header.bytes);
    if (header.operation == MessageHeader::no_signal) return;
    raise(fabric_.memory().own_word(header.signal), static_cast<kumiki_signal_operation>(header.operation),
          header.value);
    fabric_.progress().ring(rank_);
}

/// The answer is sent directly from the region's memory. That memory stays until all ranks have released the region,
/// and a rank that waits for an answer has not.
void Network::answer_get(const MessageHeader& request) {
    MessageHeader answer = header(MessageKind::got);
    answer.ticket = request.ticket;
    answer.bytes = request.bytes;
    const std::byte* from = fabric_.memory().own_arena() + request.offset;
    const std::size_t longest = limits().part;
    for (std::uint64_t at = 0; at < request.bytes; at += longest) {
        answer.offset = at;
        post(request.source, answer, {from + at, std::min(longest, request.bytes - at)}, 0);
    }
}

/// Parts arrive in order.
bool Network::take_got(const MessageHeader& header, std::span<const std::byte> payload) {
    Ticket* const ticket = tickets_.find(header.ticket);
    if (ticket == nullptr || ticket->of != header.source || header.bytes != ticket->into.size()) return false;
    const std::size_t left = ticket->left.load(std::memory_order_relaxed);
    if (header.offset != header.bytes - left || payload.size() > left) return false;
    fabric_.memory().copy_part(ticket->into.data() + header.offset, payload.data(), payload.size(), header.bytes);
    settle(header.ticket, *ticket, payload.size());
    return true;
}

bool Network::take_answer(const MessageHeader& header) {
    Ticket* const ticket = tickets_.find(header.ticket);
    if (ticket == nullptr || !ticket->into.empty() || ticket->key != nullptr) return false;
    if (ticket->of != Ticket::several && ticket->of != header.source) return false;
    ticket->value = header.value;
    settle(header.ticket, *ticket, 1);
    return true;
}

/// The owner destroys its ticket as soon as it sees that nothing is left, so the number is closed before that. The
/// ticket of a non-blocking get belongs to the network.
void Network::settle(std::uint64_t number, Ticket& ticket, std::size_t done) {
    const bool is_last = ticket.left.load(std::memory_order_relaxed) == done;
    if (is_last) tickets_.close(number);
    if (is_last && ticket.done != nullptr) {
        ticket.done->store(true, std::memory_order_release);
        started_gets_.erase(number);
    } else ticket.left.fetch_sub(done, std::memory_order_release);
    fabric_.progress().ring(rank_);
}

void Network::answer_atomic(const MessageHeader& request) {
    const auto word = fabric_.memory().own_word(request.signal);
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
    fabric_.progress().ring(rank_); // a thread may wait for this word as a signal
    post(request.source, answer);
}

void Network::take_active_message(const MessageHeader& header, std::span<const std::byte> payload) {
    const int handler = static_cast<int>(header.value);
    if (waiting_.empty() && accept(header.source, handler, payload)) return;
    waiting_.push_back({header.source, handler, {payload.begin(), payload.end()}});
}

void Network::admit(SinkId id, MessageSink& sink) {
    const std::lock_guard lock(mutex_);
    sinks_.admit(id, sink, [this](const MessageHeader& header) { drop(header, unfitting); });
}

void Network::dismiss(SinkId id) {
    const std::lock_guard lock(mutex_);
    sinks_.dismiss(id);
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

} // namespace kumiki::fabric
