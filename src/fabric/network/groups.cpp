// Communication of the collectives of groups on several hosts: messages, the barrier between the hosts, and the
// comparison of the ranks' calls.
#include <utility>

#include "fabric/fabric.hpp"
#include "fabric/staged.hpp"

namespace kumiki::fabric {

void Network::open_group(const Group& group) {
    auto tell = [this, &group](int host, int round, std::uint64_t epoch) {
        MessageHeader message = header(MessageKind::barrier);
        message.signal = group.id();
        message.value = static_cast<std::uint64_t>(round);
        message.ticket = epoch;
        post(group.rank_in_job(group.leader(host)), message);
    };
    // The barrier between the hosts is complete: the members on this host may continue.
    auto open_gate = [&group](std::uint64_t epoch) {
        wait::Gate& gate = group.host().over_hosts;
        // No member arrives at the next barrier before this one is open.
        gate.arrived.value.store(0, std::memory_order_relaxed);
        gate.epoch.value.store(epoch, std::memory_order_release);
        for (int local = 0; local < group.host_size(); ++local) group.ring(local);
    };
    const std::lock_guard lock(mutex_);
    groups_.try_emplace(group.id(), group, std::move(tell), std::move(open_gate));
}

void Network::close_group(const Group& group) {
    const std::lock_guard lock(mutex_);
    groups_.erase(group.id());
}

GroupLink* Network::link(std::uint64_t group) {
    const auto found = groups_.find(group);
    return found == groups_.end() ? nullptr : &found->second;
}

// -- messages --

Result<> Network::send_in_collective(const Group& group, int to, std::uint64_t tag, std::span<const std::byte> bytes) {
    const StagedSource staged(bytes);
    MessageHeader message = header(MessageKind::collective);
    message.bytes = bytes.size();
    message.ticket = tag;
    message.signal = group.id();
    return send_in_parts(group.rank_in_job(to), message, staged.data(), nullptr);
}

CollectiveInbox::Message& Network::expect_in_collective(const Group& group, int from, std::uint64_t tag,
                                                        std::span<std::byte> into) {
    const std::lock_guard lock(mutex_);
    return link(group.id())->inbox().expect(group.rank_in_job(from), tag, into);
}

std::size_t Network::take_in_collective(const Group& group, int from, std::uint64_t tag) {
    const auto message = [&] {
        const std::lock_guard lock(mutex_);
        return link(group.id())->inbox().remove(group.rank_in_job(from), tag);
    }();
    return message->store();
}

std::size_t Network::receive_in_collective(const Group& group, int from, std::uint64_t tag, std::span<std::byte> into) {
    const CollectiveInbox::Message& message = expect_in_collective(group, from, tag, into);
    fabric_.progress().wait([&message] { return message.whole.load(std::memory_order_acquire); });
    return take_in_collective(group, from, tag);
}

bool Network::take_in_collective(const MessageHeader& header, std::span<const std::byte> part) {
    GroupLink* const group = link(header.signal);
    if (group == nullptr) return false;
    const auto is_whole = group->take_in_collective(header, part);
    if (is_whole.value_or(false)) fabric_.progress().ring(rank_);
    return is_whole.has_value();
}

// -- the barrier --

void Network::enter_barrier(const Group& group, std::uint64_t epoch) {
    if (group.leads()) {
        const std::lock_guard lock(mutex_);
        link(group.id())->enter(epoch);
        return;
    }
    MessageHeader message = header(MessageKind::arrived);
    message.signal = group.id();
    message.ticket = epoch;
    static_cast<void>(send(group.rank_in_job(group.leader(group.own_host())), message));
}

// -- comparison of calls --

/// The leaders of hosts compare their calls. Each tells the others from time to time which collective it is in, so that
/// the later of two differing leaders detects the difference, wherever the other one is by then.
void Network::tell_calls() {
    for (auto& [id, link] : groups_) {
        const Group& group = link.group();
        if (!group.leads()) continue;
        MessageHeader message = header(MessageKind::call);
        message.signal = id;
        message.value = group.self().note;
        if (link.tells(message.value)) post_to_leaders(group, message);
    }
}

/// A late message for a group that has been closed no longer matters and is ignored.
void Network::compare_calls(const MessageHeader& header) {
    const GroupLink* const link = this->link(header.signal);
    if (link == nullptr || !link->group().leads() || !link->leads_another_host(header.source)) return;
    const Group& group = link->group();
    const auto self = group.self();
    if (shm::differ(self.note, header.value) && group.report_difference(self, {header.source, header.value}))
        post_difference(group);
}

void Network::take_difference(const MessageHeader& header) {
    if (const GroupLink* const link = this->link(header.signal))
        link->group().report_difference({static_cast<int>(header.offset), header.value},
                                        {static_cast<int>(header.bytes), header.ticket});
}

void Network::tell_difference(const Group& group) {
    const std::lock_guard lock(mutex_);
    post_difference(group);
}

void Network::post_difference(const Group& group) {
    const auto& [one, other] = group.host().differing.party;
    MessageHeader message = header(MessageKind::difference);
    message.signal = group.id();
    message.offset = static_cast<std::uint64_t>(one.rank.load(std::memory_order_relaxed));
    message.value = one.note.load(std::memory_order_relaxed);
    message.bytes = static_cast<std::uint64_t>(other.rank.load(std::memory_order_relaxed));
    message.ticket = other.note.load(std::memory_order_relaxed);
    post_to_leaders(group, message);
}

void Network::post_to_leaders(const Group& group, const MessageHeader& header) {
    for (int host = 0; host < group.hosts(); ++host)
        if (host != group.own_host()) post(group.rank_in_job(group.leader(host)), header);
}

} // namespace kumiki::fabric
