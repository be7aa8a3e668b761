#include "fabric/network/network.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "fabric/fabric.hpp"
#include "platform/hardware.hpp"
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
    events.refused = [this] { ++events_; };
    events.left = [this](std::uint64_t ticket) {
        ++events_;
        if (guest_ != nullptr) guest_->left(ticket);
    };
    auto opened = open_transport(interface, key, std::move(events));
    if (!opened) return tl::unexpected(opened.error());
    transport_ = std::move(*opened);
    return {};
}

Result<> Network::connect(const Settings& settings, const Wireup& wireup, std::uint64_t host_identity) {
    const Key key = Key::make();
    if (auto opened = open(settings.interface, key); !opened) return opened;

    const Card own{.host_identity = host_identity,
                   .local_rank = settings.local_rank,
                   .key = key,
                   .host = settings.host.empty() ? platform::host_name() : settings.host,
                   .interfaces = {},
                   .address = transport_->address()};
    auto packed = wireup(own.pack());
    if (!packed) return tl::unexpected(packed.error());
    std::vector<Card> cards;
    std::vector<Transport::Peer> peers;
    for (const auto& bytes : *packed) {
        auto card = Card::unpack(bytes);
        if (!card) return tl::unexpected(card.error());
        peers.push_back({card->address, card->key});
        cards.push_back(std::move(*card));
    }
    auto hosts = Hosts::from(cards, rank_);
    if (!hosts) return tl::unexpected(hosts.error());
    hosts_ = std::move(*hosts);
    transport_->know(std::move(peers));
    checking_ = std::make_unique<Checking>(fabric_.regions(), fabric_.messenger(), hosts_, rank_);
    dropped_.resize(cards.size() + 1);

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
