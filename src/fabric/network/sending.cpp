// Sends the operations of this rank on ranks of other hosts as messages, and collects short ones in bursts.
#include <algorithm>
#include <utility>

#include "fabric/fabric.hpp"
#include "fabric/staged.hpp"

namespace kumiki::fabric {

MessageHeader Network::header(MessageKind kind) const {
    MessageHeader made;
    made.kind = kind;
    made.source = rank_;
    return made;
}

MessageHeader Network::header(SinkId sink) const {
    MessageHeader made = header(MessageKind::message);
    made.sink = sink;
    return made;
}

/// Wraps a call of the transport that may receive meanwhile. Received messages may leave work to do, so the agent is
/// woken, which might otherwise sleep.
template <class Send>
Result<> Network::sending(Send send) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t before = events_;
    auto sent = send();
    if (events_ != before) agent_.wake();
    return sent;
}

Result<> Network::send(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    const std::lock_guard lock(mutex_);
    // What is held back comes before. A burst states the length of each message in `bytes`, so only a message that does
    // so already may join it.
    const bool joins =
        held_back_.has(rank) && header.bytes == payload.size() && payload.size() <= Burst::longest_message;
    if (joins)
        if (auto held_back = hold_back(rank, header, payload); !held_back) return held_back;
    if (auto released = release(rank); !released || joins) return released;
    return send_inside(rank, header, payload);
}

Result<> Network::send_later(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    if (payload.size() > Burst::longest_message) return send(rank, header, payload);
    const std::lock_guard lock(mutex_);
    return hold_back(rank, header, payload);
}

Result<> Network::send_inside(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    return sending([&] { return transport_->send(rank, header, payload); });
}

Result<> Network::send_soon(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    const std::lock_guard lock(mutex_);
    std::uint64_t& last = last_sent_[static_cast<std::size_t>(rank)];
    const std::uint64_t now = releases_.load(std::memory_order_relaxed);
    const bool alone = std::exchange(last, now) != now;
    if (!alone && payload.size() <= Burst::longest_message) {
        agent_.remind();
        return hold_back(rank, header, payload);
    }
    if (auto released = release(rank); !released) return released;
    return send_inside(rank, header, payload);
}

Result<bool> Network::post_now(int rank, const MessageHeader& header, std::span<const std::byte> payload,
                               std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    if (auto released = release(rank); !released) return tl::unexpected(released.error());
    messages_.fetch_add(1, std::memory_order_relaxed);
    return transport_->post(rank, header, payload, ticket);
}

/// Makes room by sending the messages that are held back already.
Result<> Network::hold_back(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    if (!held_back_.has_room_for(rank, payload.size()))
        if (auto released = release(rank); !released) return released;
    held_back_.add(rank, header, payload);
    return {};
}

Result<> Network::release(int rank) {
    if (!held_back_.has(rank)) return {};
    return sending([&] { return transport_->give(rank, header(MessageKind::burst), held_back_.take(rank)); });
}

void Network::release() {
    releases_.fetch_add(1, std::memory_order_relaxed);
    if (!held_back_.any()) return;
    const std::lock_guard lock(mutex_);
    release_all();
}

/// Returns false when another thread uses the network for long.
bool Network::try_release() {
    releases_.fetch_add(1, std::memory_order_relaxed);
    if (!held_back_.any()) return true;
    const std::unique_lock lock(mutex_, beat() / 2);
    if (lock.owns_lock()) release_all();
    return lock.owns_lock();
}

void Network::release_all() {
    while (held_back_.any()) static_cast<void>(release(held_back_.first()));
}

/// An unreachable rank is detected by its missing heartbeats; until then no thread waits for it here, so a failure
/// counts as sent.
bool Network::post(int rank, const MessageHeader& header, std::span<const std::byte> payload, std::uint64_t ticket) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    return transport_->post(rank, header, payload, ticket).value_or(true);
}

/// Sends the data in parts, which the target stores one by one while the next ones travel (Maestro paper, 2.2). The
/// last part carries the signal. Other messages may go between two parts.
Result<> Network::send_in_parts(int rank, MessageHeader header, std::span<const std::byte> bytes,
                                const Signal* signal) {
    do {
        const auto part = bytes.first(std::min(bytes.size(), limits().part));
        bytes = bytes.subspan(part.size());
        if (signal != nullptr && bytes.empty()) {
            header.operation = static_cast<std::uint8_t>(signal->operation);
            header.signal = signal->offset;
            header.value = signal->value;
        }
        if (auto sent = send(rank, header, part); !sent) return sent;
        header.offset += part.size();
    } while (!bytes.empty());
    return {};
}

Result<> Network::put(int rank, std::uint64_t offset, std::span<const std::byte> program, const Signal* signal) {
    const StagedSource staged(program);
    std::span<const std::byte> source = staged.data();
    if (put_directly(rank, offset, source)) {
        if (signal == nullptr) return {};
        source = {}; // the data are there, and the signal follows them
    }
    MessageHeader message = header(MessageKind::put);
    message.offset = offset;
    message.bytes = source.size();
    const bool alone = signal != nullptr || source.size() > Burst::longest_message;
    auto sent = alone ? send_in_parts(rank, message, source, signal) : [&] {
        const std::lock_guard lock(mutex_);
        return hold_back(rank, message, source);
    }();
    unconfirmed_.sent(rank, !source.empty());
    return sent;
}

Result<> Network::get(int rank, std::uint64_t offset, std::span<std::byte> program) {
    const StagedDestination staged(program);
    const std::span<std::byte> destination = staged.data();
    Result<> outcome;
    if (!get_directly(rank, offset, destination)) {
        Ticket ticket{.of = rank, .left = destination.size(), .into = destination};
        outcome = ask(rank, get_request(offset, destination.size()), ticket);
    }
    if (outcome) staged.finish(destination.size());
    return outcome;
}

MessageHeader Network::get_request(std::uint64_t offset, std::size_t bytes) const {
    MessageHeader request = header(MessageKind::get);
    request.offset = offset;
    request.bytes = bytes;
    return request;
}

// -- without waiting --

Result<> Network::start_put(int rank, std::uint64_t offset, std::span<const std::byte> source,
                            std::atomic<bool>& done) {
    const std::span bytes(const_cast<std::byte*>(source.data()), source.size()); // a put only reads them
    if (start_directly(rank, Transport::Direction::put, offset, bytes, done)) return {};
    const std::lock_guard lock(mutex_);
    if (auto released = release(rank); !released) return released; // what was put before comes before
    started_puts_.add(rank, offset, source, done);
    pump_puts();
    agent_.wake(); // the program may not poll again for long
    return {};
}

bool Network::pump_puts() {
    return started_puts_.pump(
        limits().part,
        [this](int rank, std::uint64_t offset, std::span<const std::byte> part, std::uint64_t ticket) {
            MessageHeader message = header(MessageKind::put);
            message.offset = offset;
            message.bytes = part.size();
            return post(rank, message, part, ticket);
        },
        [this](int rank, std::atomic<bool>& done) {
            unconfirmed_.sent(rank, true);
            done.store(true, std::memory_order_release);
            fabric_.progress().ring(rank_);
        });
}

Result<> Network::start_get(int rank, std::uint64_t offset, std::span<std::byte> destination, std::atomic<bool>& done) {
    if (start_directly(rank, Transport::Direction::get, offset, destination, done)) return {};
    const std::lock_guard lock(mutex_);
    if (auto released = release(rank); !released) return released;
    const MessageHeader request = open_get(rank, offset, destination, done);
    auto sent = send_inside(rank, request, {});
    if (!sent) {
        tickets_.close(request.ticket);
        started_gets_.erase(request.ticket);
    }
    return sent;
}

MessageHeader Network::open_get(int rank, std::uint64_t offset, std::span<std::byte> destination,
                                std::atomic<bool>& done) {
    auto ticket = std::make_unique<Ticket>(rank, destination.size(), destination);
    ticket->done = &done;
    MessageHeader request = get_request(offset, destination.size());
    request.ticket = tickets_.open(*ticket);
    started_gets_.emplace(request.ticket, std::move(ticket));
    return request;
}

Result<std::uint64_t> Network::change(int rank, Atomic operation, std::uint64_t offset, std::uint64_t value,
                                      std::uint64_t expected) {
    Ticket ticket{.of = rank, .left = 1};
    MessageHeader request = header(MessageKind::atomic);
    request.operation = static_cast<std::uint8_t>(operation);
    request.signal = offset;
    request.value = value;
    request.offset = expected;
    return ask(rank, request, ticket).map([&ticket] { return ticket.value; });
}

bool Network::active_message(int rank, int handler, std::span<const std::byte> payload) {
    if (!credits_.take(rank)) return false;
    const StagedSource staged(payload);
    MessageHeader message = header(MessageKind::active_message);
    message.value = static_cast<std::uint64_t>(handler);
    static_cast<void>(send(rank, message, staged.data()));
    return true;
}

Result<> Network::flush() {
    // One request to each target, all in flight at once.
    Ticket ticket{.of = Ticket::several, .left = 1}; // one more than requests, until all are sent
    MessageHeader question = header(MessageKind::flush);
    std::vector<std::pair<int, std::uint64_t>> asked;
    Result<> outcome;
    for (int rank = 0; rank < hosts_.size(); ++rank) {
        if (!unconfirmed_.any(rank)) continue;
        const std::uint64_t count = unconfirmed_.before_question(rank);
        if (question.ticket == 0) question.ticket = tickets_.open(ticket);
        ticket.left.fetch_add(1, std::memory_order_relaxed);
        if (auto sent = send(rank, question); !sent) {
            ticket.left.fetch_sub(1, std::memory_order_relaxed);
            outcome = sent;
        } else asked.emplace_back(rank, count);
    }
    if (question.ticket == 0) return {};
    {
        const std::lock_guard lock(mutex_);
        settle(question.ticket, ticket, 1);
    }
    await(ticket);
    for (const auto& [rank, count] : asked) unconfirmed_.confirm(rank, count);
    return outcome;
}

/// Sends the request and waits until it has been answered, which confirms all that was sent before it.
Result<> Network::ask(int rank, MessageHeader request, Ticket& ticket) {
    const std::uint64_t count = unconfirmed_.before_question(rank);
    request.ticket = tickets_.open(ticket);
    if (auto sent = send(rank, request); !sent) {
        const std::lock_guard lock(mutex_); // no receiving thread uses the ticket now
        tickets_.close(request.ticket);
        return sent;
    }
    await(ticket);
    unconfirmed_.confirm(rank, count);
    return {};
}

void Network::await(const Ticket& ticket) {
    fabric_.progress().wait([&ticket] { return ticket.left.load(std::memory_order_acquire) == 0; },
                            Progress::Attention::network);
}

} // namespace kumiki::fabric
