#include "fabric/network/network.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

#include "fabric/fabric.hpp"
#include "platform/hardware.hpp"
#include "platform/interfaces.hpp"
#include "platform/sockets.hpp"
#include "platform/thread.hpp"

namespace kumiki::fabric {

Network::Network(Fabric& fabric, const Settings& settings)
    : fabric_(fabric),
      rank_(settings.rank),
      strangers_(settings.rank),
      windows_(settings.size),
      credits_(settings.size),
      held_back_(settings.size),
      last_sent_(static_cast<std::size_t>(settings.size), ~std::uint64_t{0}),
      unconfirmed_(settings.size),
      timeout_(settings.timeout_s),
      waits_for_stopped_(settings.wait_for_stopped),
      neighbours_beats_(static_cast<std::size_t>(settings.local_size)) {}

Network::~Network() { close(); }

void Network::close() {
    if (agent_.is_running()) wait_for_receipt();
    agent_.stop();
    const std::lock_guard lock(mutex_); // a thread of a library may still wait, and poll
    if (transport_) transport_->drain();
    windows_.clear(); // UCX takes their keys back into the worker that ends with the transport
    transport_.reset();
}

/// Waits until the ranks of other hosts have received what this rank has sent to them. When a connection ends, its
/// other end may lose what it has not read yet: a slow rank would wait for the last message of a barrier forever, after
/// the others have left. A rank that has left or died does not answer, which its connection shows.
void Network::wait_for_receipt() {
    leaves_.store(true, std::memory_order_relaxed);
    std::deque<Ticket> answers;
    std::vector<std::uint64_t> numbers;
    {
        const std::lock_guard lock(mutex_);
        release_all();
        for (int rank = 0; rank < hosts_.size(); ++rank) {
            if (hosts_.here(rank) || !transport_->is_connected(rank)) continue;
            MessageHeader question = header(MessageKind::flush);
            question.ticket = tickets_.open(answers.emplace_back(rank, std::size_t{1}));
            numbers.push_back(question.ticket);
            post(rank, question);
        }
    }
    const auto is_awaited = [this](const Ticket& each) {
        return each.left.load(std::memory_order_acquire) != 0 && transport_->is_connected(each.of);
    };
    const auto end = std::chrono::steady_clock::now() + timeout_;
    for (bool waits = true; waits && std::chrono::steady_clock::now() < end;) {
        if (!poll()) platform::yield();
        const std::lock_guard lock(mutex_);
        waits = std::ranges::any_of(answers, is_awaited);
    }
    const std::lock_guard lock(mutex_);
    for (const std::uint64_t number : numbers) tickets_.close(number);
}

// -- joining --

Result<std::unique_ptr<Network>> Network::join(Fabric& fabric, const Settings& settings, const Wireup& wireup,
                                               std::uint64_t host_identity) {
    std::unique_ptr<Network> network(new Network(fabric, settings));
    if (auto connected = network->connect(settings, wireup, host_identity); !connected)
        return tl::unexpected(connected.error());
    return network;
}

Result<> Network::open(const std::string& interface, const Key& key) {
    Transport::Events events;
    events.received = [this](const MessageHeader& header, std::span<const std::byte> payload) {
        ++events_;
        receive(header, payload);
    };
    events.refused = [this] {
        ++events_;
        strangers_.refused();
    };
    events.left = [this](const MessageHeader& header, std::uint64_t ticket) {
        ++events_;
        if (header.kind == MessageKind::put) StartedPuts::left(ticket);
        else sinks_.left(header.sink, ticket);
    };
    events.waiting = [this] { send_due_heartbeat(); };
    events.moved = [this](std::uint64_t ticket, bool succeeded) {
        ++events_;
        moved(ticket, succeeded);
    };
    const auto others = platform::listening_ports();
    auto opened = open_transport(interface, key, std::move(events));
    if (!opened) return tl::unexpected(opened.error());
    transport_ = std::move(*opened);
    held_back_.set_room(limits().burst);
    auto ports = platform::listening_ports();
    std::erase_if(ports, [&](std::uint16_t port) { return std::ranges::find(others, port) != others.end(); });
    strangers_.listen_on(std::move(ports));
    return {};
}

Result<> Network::connect(const Settings& settings, const Wireup& wireup, std::uint64_t host_identity) {
    const Key key = Key::make();
    if (auto opened = open(settings.interface.empty() ? settings.network_devices : settings.interface, key); !opened)
        return opened;

    const Card own{.host_identity = host_identity,
                   .local_rank = settings.local_rank,
                   .key = key,
                   .host = settings.host.empty() ? platform::host_name() : settings.host,
                   .addresses = platform::addresses_of(platform::interfaces()),
                   .address = transport_->address()};
    auto packed = wireup(own.pack());
    if (!packed) return tl::unexpected(packed.error());
    std::vector<Card> cards;
    std::vector<Transport::Peer> peers;
    for (const auto& bytes : *packed) {
        auto card = Card::unpack(bytes);
        if (!card) return tl::unexpected(card.error());
        peers.push_back({card->address, card->key});
        strangers_.know(card->addresses);
        cards.push_back(std::move(*card));
    }
    auto hosts = Hosts::from(cards, rank_);
    if (!hosts) return tl::unexpected(hosts.error());
    hosts_ = std::move(*hosts);
    transport_->know(std::move(peers));
    checking_ = std::make_unique<Checking>(fabric_.memory().regions(), fabric_.messenger(), hosts_, rank_);
    dropped_.resize(cards.size() + 1);

    const auto most_missed = static_cast<int>(timeout_ / beat());
    missed_of_hosts_ = std::make_unique<MissedHeartbeats>(hosts_.count(), most_missed);
    missed_of_neighbours_ = std::make_unique<MissedHeartbeats>(settings.local_size, most_missed);
    return {};
}

// -- the agent's duties --

Result<> Network::serve() {
    Agent::Duties duties;
    // The agent does not wait for the lock forever: the thread that holds it may be sending to a rank that has been cut
    // off, which only the agent detects. Meanwhile that thread receives.
    duties.receive = [this] {
        if (mutex_.is_wanted()) {
            platform::yield();
            return true;
        }
        const std::unique_lock lock(mutex_, beat() / 2);
        return !lock.owns_lock() || progress();
    };
    duties.release = [this] {
        if (!try_release()) agent_.remind();
    };
    duties.arm = [this] {
        const std::unique_lock lock(mutex_, beat() / 2);
        return lock.owns_lock() && waiting_.empty() && transport_->arm();
    };
    duties.tick = [this] { watch(); };
    duties.descriptor = transport_->descriptor();
    duties.linger =
        std::min<std::chrono::nanoseconds>(fabric_.progress().patience().spin, std::chrono::milliseconds(1));
    duties.period = beat();
    return agent_.start(std::move(duties));
}

} // namespace kumiki::fabric
