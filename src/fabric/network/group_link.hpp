#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "fabric/group.hpp"
#include "fabric/network/hosts_barrier.hpp"
#include "fabric/network/collective_inbox.hpp"

namespace kumiki::fabric {

/// The state that a rank keeps for a group with members on several hosts: the barrier between the hosts, and the inbox
/// of its collectives. `source` is the sender's rank in the job; a message from any rank but the member that should
/// send it is refused. Not thread-safe.
class GroupLink {
public:
    GroupLink(const Group& group, HostsBarrier::Tell tell, HostsBarrier::Done done)
        : group_(group), barrier_(group.hosts(), group.own_host(), std::move(tell), std::move(done)) {}

    const Group& group() const { return group_; }
    CollectiveInbox& inbox() { return inbox_; }

    /// Returns true when the other hosts have not been told yet that this rank is in this collective, and records that
    /// they are told now.
    bool tells(shm::CallNote note) { return std::exchange(told_, note) != note; }

    /// Returns whether the message is whole now, or nothing when it is refused.
    std::optional<bool> take_in_collective(const MessageHeader& header, std::span<const std::byte> part) {
        const int sender = group_.number_of(header.source);
        if (sender < 0 || group_.here(sender)) return std::nullopt;
        return inbox_.take(header, part);
    }
    /// All members on this host have entered barrier number `epoch`. The leader finds out itself, or another member
    /// tells it.
    void enter(std::uint64_t epoch) { barrier_.enter(epoch); }
    bool arrived(int source, std::uint64_t epoch) {
        const int sender = group_.number_of(source);
        if (!group_.leads() || sender < 0 || !group_.here(sender) || !barrier_.can_enter(epoch)) return false;
        barrier_.enter(epoch);
        return true;
    }
    bool heard(int source, std::uint64_t round, std::uint64_t epoch) {
        return group_.leads() && leads_another_host(source) &&
               barrier_.heard(group_.host_of(group_.number_of(source)), round, epoch);
    }
    bool leads_another_host(int source) const {
        const int sender = group_.number_of(source);
        return sender >= 0 && !group_.here(sender) && group_.leader(group_.host_of(sender)) == sender;
    }

private:
    const Group& group_;
    HostsBarrier barrier_;
    CollectiveInbox inbox_;
    shm::CallNote told_ = 0;
};

} // namespace kumiki::fabric
