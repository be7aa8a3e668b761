// Heartbeats. Hosts send them as messages; within a host each rank counts beats in shared memory. So a rank that hangs
// is detected as well as a host that was cut off.
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <fmt/format.h>

#include "fabric/fabric.hpp"
#include "platform/process.hpp"

namespace kumiki::fabric {

/// The interval between two heartbeats.
std::chrono::milliseconds Network::beat() const {
    return std::min<std::chrono::milliseconds>(std::chrono::seconds(1), std::chrono::milliseconds(timeout_) / 5);
}

void Network::watch() {
    fabric_.memory().own().beats.fetch_add(1, std::memory_order_relaxed);
    if (!try_release()) agent_.remind();
    // A rank that is stopped explains missed heartbeats and broken connections, and kumiki-run names it in time.
    const bool explained = leaves_.load(std::memory_order_relaxed) ||
                           fabric_.memory().header().stopped.load(std::memory_order_relaxed) != 0;
    if (explained) {
        missed_of_hosts_->all_seen();
        missed_of_neighbours_->all_seen();
    } else {
        watch_over_neighbours();
        watch_over_hosts();
    }
    if (speaks_for_host()) heartbeat_due_.store(true, std::memory_order_relaxed);
    std::optional<Transport::Failed> lost;
    if (const std::unique_lock lock(mutex_, beat() / 2); lock.owns_lock()) {
        send_due_heartbeat();
        tell_calls();
        if (!explained) lost = lost_connection();
    }
    if (lost)
        give_up(fmt::format("the connection to rank {} on host {} has been broken ({})", lost->rank,
                            hosts_.name(hosts_.host_of(lost->rank)), lost->reason),
                "; messages were lost: look for a firewall or a switch that ends connections");
}

/// When a rank leaves it closes its connections, and this rank leaves soon after; when a rank dies, the launcher names
/// it. In any other case messages have been lost, and the job would wait for them forever.
std::optional<Transport::Failed> Network::lost_connection() {
    auto failed = transport_->failed();
    if (failed && ++beats_without_connection_ <= timeout_ / beat()) failed.reset();
    return failed;
}

/// Called by the agent, or by a thread that holds the lock for long because it waits until its message has left.
void Network::send_due_heartbeat() {
    if (heartbeat_due_.load(std::memory_order_relaxed) && heartbeat_due_.exchange(false, std::memory_order_relaxed))
        send_heartbeat();
}

void Network::watch_over_neighbours() {
    for (int local = 0; local < fabric_.memory().host_size(); ++local) {
        const auto& block = fabric_.memory().host_block(local);
        const auto beats = block.beats.load(std::memory_order_relaxed);
        auto& seen = neighbours_beats_[static_cast<std::size_t>(local)];
        const bool is_alive = beats != seen || beats == 0 || local == fabric_.memory().host_rank() ||
                              block.state.load(std::memory_order_relaxed) != shm::RankState::joined;
        seen = beats;
        if (is_alive) missed_of_neighbours_->seen(local);
        else if (missed_of_neighbours_->miss(local) && speaks_for_host()) miss_neighbour(local);
    }
}

/// The first rank of a host sends its heartbeats. While that rank is stopped, the next one sends them instead, because
/// the host is alive.
bool Network::speaks_for_host() const {
    for (int local = 0; local < fabric_.memory().host_rank(); ++local)
        if (!missed_of_neighbours_->overdue(local)) return false;
    return true;
}

/// kumiki-run knows which of the ranks that it started are stopped, and tells all ranks (shm::Header::stopped); under
/// other launchers the neighbours detect it.
void Network::miss_neighbour(int local) {
    using State = platform::ProcessStatus::State;
    const int process = fabric_.memory().host_block(local).process.load(std::memory_order_relaxed);
    const auto status = platform::status_of(process);
    const auto state = status ? status->state : State::dead;
    if (state == State::traced || (state == State::stopped && waits_for_stopped_)) return;
    const int host = hosts_.own();
    const auto who =
        fmt::format("rank {} on host {} (process {})", hosts_.rank_at(host, local), hosts_.name(host), process);
    if (state == State::stopped) give_up(who + " has been stopped", "; KUMIKI_STOPPED=wait waits for it");
    give_up(who + " has shown no sign of life");
}

/// Other hosts send their heartbeats only to the first rank. A host that is lost when this rank has beaten no longer
/// than it tolerates has never been heard: then the connection may never have come about, and the other host may miss
/// this one in the same way.
void Network::watch_over_hosts() {
    if (!hosts_.leads()) return;
    const bool young = fabric_.memory().own().beats.load(std::memory_order_relaxed) <=
                       static_cast<std::uint64_t>(timeout_ / beat()) + 1;
    for (int host = 0; host < hosts_.count(); ++host)
        if (host != hosts_.own() && missed_of_hosts_->miss(host))
            give_up(fmt::format("host {} has shown no sign of life", hosts_.name(host)),
                    young ? ", and none since this rank joined; it is cut off, or a firewall keeps the hosts apart"
                          : "; it is cut off, or all its ranks are stopped");
}

void Network::send_heartbeat() {
    for (int host = 0; host < hosts_.count(); ++host)
        if (host != hosts_.own()) post(hosts_.leader(host), header(MessageKind::heartbeat));
}

/// The job cannot continue, and no call could return the error, because no thread may be in a call. The program is told
/// if it wants to be; then the process ends, and the launcher ends the other ranks.
void Network::give_up(const std::string& what, std::string_view remedy) const {
    constexpr int environment_not_usable = 3;
    const std::string sentence = fmt::format("rank {} on host {} ends the job: {} for {} s (KUMIKI_TIMEOUT){}", rank_,
                                             hosts_.name(hosts_.own()), what, timeout_.count(), remedy);
    fmt::print(stderr, "kumiki: {}\n", sentence);
    fabric_.failure_handler().call(sentence);
    std::_Exit(environment_not_usable);
}

} // namespace kumiki::fabric
