#include "fabric/network/network.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "fabric/fabric.hpp"
#include "fabric/signal.hpp"
#include "platform/thread.hpp"

namespace kumiki::fabric {

Network::Network(Fabric& fabric, const Settings& settings)
    : fabric_(fabric),
      rank_(settings.rank),
      credits_(settings.size),
      bursts_(static_cast<std::size_t>(settings.size)),
      last_sent_(static_cast<std::size_t>(settings.size), ~std::uint64_t{0}),
      unflushed_(static_cast<std::size_t>(settings.size)) {}

Network::~Network() {
    agent_.stop();
    if (transport_) transport_->drain();
}

// -- sending --

MessageHeader Network::header(MessageKind kind) const {
    MessageHeader made;
    made.kind = kind;
    made.source = rank_;
    return made;
}

Result<> Network::send(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    const std::lock_guard lock(mutex_);
    if (auto released = release(rank); !released) return released; // what was put before comes before
    return send_inside(rank, header, payload);
}

Result<> Network::send_inside(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    return transport_->send(rank, header, payload);
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

/// Room is made by what was held back first.
Result<> Network::hold_back(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    Burst& burst = bursts_[static_cast<std::size_t>(rank)];
    if (!burst.has_room_for(payload.size()))
        if (auto released = release(rank); !released) return released;
    if (burst.empty()) held_back_.fetch_add(1, std::memory_order_relaxed);
    burst.add(header, payload);
    return {};
}

Result<> Network::release(int rank) {
    Burst& burst = bursts_[static_cast<std::size_t>(rank)];
    if (burst.empty()) return {};
    messages_.fetch_add(1, std::memory_order_relaxed);
    auto sent = transport_->send(rank, header(MessageKind::burst), burst.bytes());
    burst.clear();
    held_back_.fetch_sub(1, std::memory_order_relaxed);
    return sent;
}

void Network::release() {
    releases_.fetch_add(1, std::memory_order_relaxed);
    if (held_back_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    for (int rank = 0; rank < static_cast<int>(bursts_.size()); ++rank) static_cast<void>(release(rank));
}

/// A rank that cannot be reached any more is found by its missing signs of life; until then nobody waits here for it.
void Network::post(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    static_cast<void>(transport_->post(rank, header, payload));
}

/// In parts that the target puts in their place one by one, while the next ones travel (Maestro paper, 2.2); the last
/// brings the signal. Between two parts other messages may go.
Result<> Network::send_in_parts(int rank, MessageHeader header, std::span<const std::byte> bytes,
                                const Signal* signal) {
    do {
        const auto part = bytes.first(std::min(bytes.size(), Transport::longest_payload));
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

Result<> Network::put(int rank, std::uint64_t offset, std::span<const std::byte> source, const Signal* signal) {
    MessageHeader message = header(MessageKind::put);
    message.offset = offset;
    message.bytes = source.size();
    const bool alone = signal != nullptr || source.size() > Burst::longest_message;
    auto sent = alone ? send_in_parts(rank, message, source, signal) : [&] {
        const std::lock_guard lock(mutex_);
        return hold_back(rank, message, source);
    }();
    // Not sooner: another thread's flush() in between would not have asked for this one.
    unflushed_[static_cast<std::size_t>(rank)].store(true, std::memory_order_relaxed);
    return sent;
}

Result<> Network::get(int rank, std::uint64_t offset, std::span<std::byte> destination) {
    Ticket ticket{.left = destination.size(), .into = destination.data()};
    MessageHeader request = header(MessageKind::get);
    request.offset = offset;
    request.bytes = destination.size();
    request.ticket = ticket.number();
    if (auto sent = send(rank, request); !sent) return sent;
    await(ticket);
    return {};
}

Result<std::uint64_t> Network::change(int rank, Atomic operation, std::uint64_t offset, std::uint64_t value,
                                      std::uint64_t expected) {
    Ticket ticket{.left = 1};
    MessageHeader request = header(MessageKind::atomic);
    request.operation = static_cast<std::uint8_t>(operation);
    request.signal = offset;
    request.value = value;
    request.offset = expected;
    request.ticket = ticket.number();
    if (auto sent = send(rank, request); !sent) return tl::unexpected(sent.error());
    await(ticket);
    return ticket.value;
}

bool Network::active_message(int rank, int handler, std::span<const std::byte> payload) {
    if (!credits_.take(rank)) return false;
    MessageHeader message = header(MessageKind::active_message);
    message.value = static_cast<std::uint64_t>(handler);
    static_cast<void>(send(rank, message, payload));
    return true;
}

Result<> Network::flush() {
    // One question to each target, all on their way at once.
    Ticket ticket{.left = 0};
    MessageHeader question = header(MessageKind::flush);
    question.ticket = ticket.number();
    Result<> outcome;
    for (int rank = 0; rank < static_cast<int>(unflushed_.size()); ++rank) {
        if (!unflushed_[static_cast<std::size_t>(rank)].exchange(false, std::memory_order_relaxed)) continue;
        ticket.left.fetch_add(1, std::memory_order_relaxed);
        if (auto sent = send(rank, question); !sent) {
            ticket.left.fetch_sub(1, std::memory_order_relaxed);
            outcome = sent;
        }
    }
    await(ticket);
    return outcome;
}

Result<> Network::send_mail(int rank, std::uint64_t tag, std::span<const std::byte> bytes) {
    MessageHeader message = header(MessageKind::mail);
    message.bytes = bytes.size();
    message.ticket = tag;
    return send_in_parts(rank, message, bytes, nullptr);
}

Mail::Letter& Network::expect_mail(int rank, std::uint64_t tag, std::span<std::byte> into) {
    const std::lock_guard lock(mutex_);
    return mail_.expect(rank, tag, into);
}

std::size_t Network::take_mail(int rank, std::uint64_t tag) {
    const std::lock_guard lock(mutex_);
    return mail_.forget(rank, tag);
}

std::size_t Network::receive_mail(int rank, std::uint64_t tag, std::span<std::byte> into) {
    const Mail::Letter& letter = expect_mail(rank, tag, into);
    fabric_.wait([&letter] { return letter.whole.load(std::memory_order_acquire); });
    return take_mail(rank, tag);
}

void Network::enter_barrier(std::uint64_t epoch) {
    if (hosts_.leads()) {
        const std::lock_guard lock(mutex_);
        barrier_->enter(epoch);
        return;
    }
    MessageHeader message = header(MessageKind::arrived);
    message.ticket = epoch;
    static_cast<void>(send(hosts_.own_leader(), message));
}

void Network::await(const Ticket& ticket) {
    fabric_.wait([&ticket] { return ticket.left.load(std::memory_order_acquire) == 0; });
}

// -- receiving --

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
        return fabric_.report_difference({header.source, header.value},
                                         {static_cast<int>(header.offset), header.ticket});
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
        post(request.source, answer, {from + at, std::min(Transport::longest_payload, request.bytes - at)});
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
    fabric_.report_difference(self, {leader, theirs});
    post_difference();
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

// -- joining --

Result<std::unique_ptr<Network>> Network::join(Fabric& fabric, const Settings& settings, const Wireup& wireup,
                                               std::uint64_t host_identity) {
    std::unique_ptr<Network> network(new Network(fabric, settings));
    if (auto connected = network->connect(settings, wireup, host_identity); !connected)
        return tl::unexpected(connected.error());
    return network;
}

Result<> Network::connect(const Settings& settings, const Wireup& wireup, std::uint64_t host_identity) {
    auto opened =
        open_transport(settings.interface, [this](const MessageHeader& header, std::span<const std::byte> payload) {
            receive(header, payload);
        });
    if (!opened) return tl::unexpected(opened.error());
    transport_ = std::move(*opened);

    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const Card own{host_identity, settings.local_rank, settings.host.empty() ? name.data() : settings.host,
                   transport_->address()};
    auto packed = wireup(own.pack());
    if (!packed) return tl::unexpected(packed.error());
    std::vector<Card> cards;
    std::vector<std::vector<std::byte>> addresses;
    for (const auto& bytes : *packed) {
        auto card = Card::unpack(bytes);
        if (!card) return tl::unexpected(card.error());
        addresses.push_back(card->address);
        cards.push_back(std::move(*card));
    }
    auto hosts = Hosts::from(cards, rank_);
    if (!hosts) return tl::unexpected(hosts.error());
    hosts_ = std::move(*hosts);
    transport_->know(std::move(addresses));

    life_ = std::make_unique<LifeSigns>(hosts_.count(), std::chrono::seconds(settings.timeout_s));
    barrier_ = std::make_unique<HostsBarrier>(
        hosts_.count(), hosts_.own(),
        [this](int host, int round, std::uint64_t epoch) {
            MessageHeader message = header(MessageKind::barrier);
            message.value = static_cast<std::uint64_t>(round);
            message.ticket = epoch;
            post(hosts_.leader(host), message);
        },
        [this](std::uint64_t epoch) { open_gate(epoch); });
    return {};
}

// -- the agent's duties --

Result<> Network::serve() {
    Agent::Duties duties;
    duties.receive = [this] {
        if (mutex_.is_wanted()) {
            platform::yield();
            return true;
        }
        const std::lock_guard lock(mutex_);
        return progress();
    };
    duties.release = [this] { release(); };
    duties.arm = [this] {
        const std::lock_guard lock(mutex_);
        return waiting_.empty() && transport_->arm();
    };
    duties.tick = [this] { watch_over_hosts(); };
    duties.descriptor = transport_->descriptor();
    duties.linger = std::min<std::chrono::nanoseconds>(fabric_.patience().spin, std::chrono::milliseconds(1));
    duties.period = std::min(std::chrono::milliseconds(1000),
                             std::chrono::duration_cast<std::chrono::milliseconds>(life_->patience()) / 5);
    return agent_.start(std::move(duties));
}

/// Leaders tell each other that their hosts live; within a host each rank leaves a mark for its leader, so that a rank
/// that was stopped is missed as well as a host that was cut off.
void Network::watch_over_hosts() {
    const auto now = LifeSigns::Clock::now().time_since_epoch().count();
    fabric_.own().alive.store(now, std::memory_order_relaxed);
    release();
    if (!hosts_.leads()) return;
    for (int host = 0; host < hosts_.count(); ++host) {
        if (host == hosts_.own()) continue;
        if (life_->lost(host)) give_up(fmt::format("host {} has shown no sign of life", hosts_.name(host)));
    }
    MessageHeader message = header(MessageKind::sign_of_life);
    message.value = fabric_.self().note;
    {
        const std::lock_guard lock(mutex_);
        post_to_hosts(message);
    }
    for (int local = 0; local < fabric_.host_size(); ++local)
        if (const auto& block = fabric_.host_block(local);
            block.state.load(std::memory_order_relaxed) == shm::RankState::joined)
            if (const auto last = block.alive.load(std::memory_order_relaxed);
                last != 0 && life_->too_old(LifeSigns::Clock::duration(last)))
                give_up(fmt::format("rank {} on host {} (process {}) has shown no sign of life",
                                    hosts_.rank_at(hosts_.own(), local), hosts_.name(hosts_.own()),
                                    block.process.load(std::memory_order_relaxed)));
}

/// The job cannot go on, and no call could tell: nobody may be in one. The launcher ends the others.
void Network::give_up(const std::string& what) const {
    constexpr int environment_not_usable = 3;
    fmt::print(stderr, "kumiki: rank {} on host {} ends the job: {} for {} s (KUMIKI_TIMEOUT)\n", rank_,
               hosts_.name(hosts_.own()), what,
               std::chrono::duration_cast<std::chrono::seconds>(life_->patience()).count());
    std::_Exit(environment_not_usable);
}

} // namespace kumiki::fabric
