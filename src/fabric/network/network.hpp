#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "error/result.hpp"
#include "fabric/network/agent.hpp"
#include "fabric/network/checking.hpp"
#include "fabric/network/credits.hpp"
#include "fabric/network/group_link.hpp"
#include "fabric/network/held_back.hpp"
#include "fabric/network/hosts.hpp"
#include "fabric/network/missed_heartbeats.hpp"
#include "fabric/network/message_sinks.hpp"
#include "fabric/network/polite_mutex.hpp"
#include "fabric/network/started_puts.hpp"
#include "fabric/network/strangers.hpp"
#include "fabric/network/tickets.hpp"
#include "fabric/network/transport.hpp"
#include "fabric/network/unconfirmed.hpp"
#include "fabric/network/windows.hpp"
#include "fabric/progress.hpp"
#include "fabric/region_table.hpp"
#include "fabric/wireup/wireup.hpp"
#include "kumiki/types.h"
#include "settings/settings.hpp"

namespace kumiki::fabric {

class Fabric;

/// The number of messages that this rank has sent over the network: to ranks of other hosts, and to its own host's
/// leader.
struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t direct = 0; ///< puts and gets that the network carried out itself, without messages
};

/// The part of the fabric that reaches ranks of other hosts. An operation is one or more messages to the target, where
/// the receiving thread (one that waits in the library, or the agent) carries it out; a network that writes and reads
/// remote memory itself carries out long puts and gets without that (direct.cpp). The target's computation
/// takes no part in it (Maestro paper, 2.2: the receiving side places incoming data). All calls are thread-safe.
/// Offsets refer to the arenas, are the same at every rank, and have been checked against the regions.
class Network final : public NetworkPoll {
public:
    struct Signal {
        std::uint64_t offset;
        kumiki_signal_operation operation;
        std::uint64_t value;
    };
    enum class Atomic : std::uint8_t { fetch_add, compare_swap, swap };

    /// Exchanges cards with all ranks of the job. `host_identity` is the same at all ranks that share memory. Nothing
    /// is received before serve().
    static Result<std::unique_ptr<Network>> join(Fabric& fabric, const Settings& settings, const Wireup& wireup,
                                                 std::uint64_t host_identity);
    ~Network() override;
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Starts the agent.
    Result<> serve();
    /// Waits until the ranks of other hosts have received what this rank has sent, and ends the agent and the engine.
    /// Afterwards threads of this process may still wait for each other (Progress), but nothing else may be called.
    void close();

    const Hosts& hosts() const { return hosts_; }
    Transport::Limits limits() const { return transport_->limits(); }

    /// On return the source may be reused. A thread that sees the signal (may be null) at the target also sees the
    /// data. Short puts without a signal are held back until something follows them to the same rank, or release() is
    /// called.
    Result<> put(int rank, std::uint64_t offset, std::span<const std::byte> program, const Signal* signal);
    Result<> get(int rank, std::uint64_t offset, std::span<std::byte> program);
    /// Non-blocking put: `done` becomes true, and this rank's bell rings, when the source may be reused. Until then,
    /// signals and messages to that rank may overtake the data.
    Result<> start_put(int rank, std::uint64_t offset, std::span<const std::byte> source, std::atomic<bool>& done);
    /// Non-blocking get: the same, when the data have arrived.
    Result<> start_get(int rank, std::uint64_t offset, std::span<std::byte> destination, std::atomic<bool>& done);
    /// Returns the previous value; `expected` is for compare_swap.
    Result<std::uint64_t> change(int rank, Atomic operation, std::uint64_t offset, std::uint64_t value,
                                 std::uint64_t expected = 0);
    /// Returns false when that rank has no credit left and the message has to wait. An unreachable rank is not reported
    /// here, because its loss ends the job.
    bool active_message(int rank, int handler, std::span<const std::byte> payload);
    /// Returns when all puts and signals of this rank have been carried out at their targets.
    Result<> flush();
    /// The way of long puts or gets with a rank of another host.
    Transport::Route route(int rank, Transport::Direction direction);
    /// All ranks have released this region; nothing is under way in it.
    void forget(const Extent& region);

    /// Every wait calls it, and so does the agent from time to time.
    void release() override;

    /// From now on, messages of this group, which is on several hosts, are received. Messages of a group that is not
    /// open are dropped, so no member may begin a collective before all have opened the group.
    void open_group(const Group& group);
    void close_group(const Group& group);

    /// A message of a collective between members of an open group. The receiver names the sender and a tag, and gets
    /// the length of the message.
    Result<> send_in_collective(const Group& group, int to, std::uint64_t tag, std::span<const std::byte> bytes);
    std::size_t receive_in_collective(const Group& group, int from, std::uint64_t tag, std::span<std::byte> into);
    /// The same in two steps, for a thread that waits in its own way: the first asks for a message, which the thread
    /// waits for until it is whole; the second ends it.
    CollectiveInbox::Message& expect_in_collective(const Group& group, int from, std::uint64_t tag,
                                                   std::span<std::byte> into);
    std::size_t take_in_collective(const Group& group, int from, std::uint64_t tag);

    /// From now on the messages of this layer go to `sink`, including those that arrived earlier.
    void admit(SinkId id, MessageSink& sink);
    /// From now on these messages are discarded.
    void dismiss(SinkId id);
    MessageHeader header(MessageKind kind) const;
    MessageHeader header(SinkId sink) const;
    /// They send a message of a sink, and keep a copy of the payload when there is no room for it. send() sends at
    /// once. send_soon() may combine messages that go to one rank without a wait in between (the network burst of the
    /// Maestro paper, 2.4), and sends after a millisecond at the latest.
    Result<> send(int rank, const MessageHeader& header, std::span<const std::byte> payload = {});
    /// For a thread that sends another message to that rank, or waits, right after this call: the message leaves then.
    Result<> send_later(int rank, const MessageHeader& header, std::span<const std::byte> payload);
    Result<> send_soon(int rank, const MessageHeader& header, std::span<const std::byte> payload);
    /// Sends at once and never waits. Returns true when the payload may be reused on return; otherwise it may be reused
    /// when MessageSink::left reports the ticket.
    Result<bool> post_now(int rank, const MessageHeader& header, std::span<const std::byte> payload,
                          std::uint64_t ticket);
    /// The same for a sink, from inside its callbacks.
    bool post(int rank, const MessageHeader& header, std::span<const std::byte> payload, std::uint64_t ticket);
    void post(int rank, const MessageHeader& header) { static_cast<void>(post(rank, header, {}, 0)); }

    /// All members of the group on this host have entered its barrier number `epoch` (shm::HostBlock::over_hosts).
    void enter_barrier(const Group& group, std::uint64_t epoch);

    /// Tells the leaders of the group's other hosts that two ranks are in different collectives, after
    /// Group::report_difference on this host.
    void tell_difference(const Group& group);

    bool poll() override;
    void begin_polling() override { agent_.begin_wait(); }
    void end_polling() override { agent_.end_wait(); }
    void hand_over() override { agent_.take_over(); }
    void take_back() override { agent_.step_back(); }
    Traffic traffic() const {
        return {messages_.load(std::memory_order_relaxed), direct_.load(std::memory_order_relaxed)};
    }

private:
    /// A request to which an answer will come.
    struct Ticket {
        static constexpr int several = -1;
        int of;                        ///< the rank that answers
        std::atomic<std::size_t> left; ///< bytes, or answers
        std::span<std::byte> into{};   ///< of a get
        std::uint64_t value = 0;
        std::atomic<bool>* done = nullptr;     ///< of a non-blocking get, for which no thread need wait
        std::vector<std::byte>* key = nullptr; ///< of a request for a region's key
    };
    /// A place in the memory of another rank.
    struct DirectWindow {
        std::shared_ptr<Transport::Window> there;
        std::uint64_t address;
    };
    struct Waiting { ///< an active message for which the inbox has no room yet
        int source, handler;
        std::vector<std::byte> payload;
    };

    Network(Fabric& fabric, const Settings& settings);
    Result<> open(const std::string& interface, const Key& key);
    Result<> connect(const Settings& settings, const Wireup& wireup, std::uint64_t host_identity);
    void wait_for_receipt();
    std::chrono::milliseconds beat() const;
    void watch();
    void watch_over_neighbours();
    void watch_over_hosts();
    std::optional<Transport::Failed> lost_connection();
    bool speaks_for_host() const;
    void miss_neighbour(int local);
    bool try_release();
    [[noreturn]] void give_up(const std::string& what, std::string_view remedy = "") const;

    Result<> send_in_parts(int rank, MessageHeader header, std::span<const std::byte> bytes, const Signal* signal);
    MessageHeader get_request(std::uint64_t offset, std::size_t bytes) const;
    Result<> ask(int rank, MessageHeader request, Ticket& ticket);
    void await(const Ticket& ticket);

    bool would_overtake(int rank, Transport::Direction direction) const;
    bool follow_messages(int rank, Transport::Direction direction);
    bool put_directly(int rank, std::uint64_t offset, std::span<const std::byte> source);
    bool get_directly(int rank, std::uint64_t offset, std::span<std::byte> destination);
    bool move_directly(int rank, Transport::Direction direction, std::uint64_t offset, std::span<std::byte> here);
    bool start_directly(int rank, Transport::Direction direction, std::uint64_t offset, std::span<std::byte> here,
                        std::atomic<bool>& done);
    std::optional<DirectWindow> window(int rank, Transport::Direction direction, std::uint64_t offset);
    Windows::Window ask_for_window(int rank, const Extent& region);

    // These are called with the lock held:
    Result<> send_inside(int rank, const MessageHeader& header, std::span<const std::byte> payload);
    template <class Send>
    Result<> sending(Send send);
    Result<> hold_back(int rank, const MessageHeader& header, std::span<const std::byte> payload);
    Result<> release(int rank);
    void release_all();
    void send_heartbeat();
    void send_due_heartbeat();
    bool progress();
    bool pump_puts();
    void receive(const MessageHeader& header, std::span<const std::byte> payload);
    bool carry_out(const MessageHeader& header, std::span<const std::byte> payload);
    void drop(const MessageHeader& header, const char* fault);
    bool take_burst(int source, std::span<const std::byte> payload);
    void place(const MessageHeader& header, std::span<const std::byte> payload);
    void answer_get(const MessageHeader& request);
    void answer_atomic(const MessageHeader& request);
    bool take_got(const MessageHeader& header, std::span<const std::byte> payload);
    bool take_answer(const MessageHeader& header);
    Transport::Begun begin(const DirectWindow& window, DirectTransfer& transfer);
    void heed_route(int rank, Transport::Direction direction);
    void moved(std::uint64_t ticket, bool succeeded);
    void answer_share(const MessageHeader& request);
    bool take_shared(const MessageHeader& header, std::span<const std::byte> key);
    MessageHeader open_get(int rank, std::uint64_t offset, std::span<std::byte> destination, std::atomic<bool>& done);
    void settle(std::uint64_t number, Ticket& ticket, std::size_t done);
    void take_active_message(const MessageHeader& header, std::span<const std::byte> payload);
    bool accept(int source, int handler, std::span<const std::byte> payload);
    bool deliver_waiting();
    /// Returns null when the group is not open.
    GroupLink* link(std::uint64_t group);
    bool take_in_collective(const MessageHeader& header, std::span<const std::byte> part);
    void tell_calls();
    void compare_calls(const MessageHeader& header);
    void take_difference(const MessageHeader& header);
    void post_to_leaders(const Group& group, const MessageHeader& header);
    void post_difference(const Group& group);

    Fabric& fabric_;
    int rank_;
    PoliteMutex mutex_; ///< guards all members below except the atomics
    std::shared_ptr<Transport> transport_;
    Hosts hosts_;
    Strangers strangers_;
    std::unique_ptr<Checking> checking_;
    std::vector<bool> dropped_; ///< by rank: a message was dropped; the last is for others
    Tickets<Ticket> tickets_;
    std::map<std::uint64_t, std::unique_ptr<Ticket>> started_gets_; ///< by the number of the ticket
    StartedPuts started_puts_;
    Windows windows_;
    std::map<const DirectTransfer*, std::unique_ptr<DirectTransfer>> started_directly_;
    std::map<std::uint64_t, std::vector<std::byte>> shared_keys_; ///< of this rank's regions, by offset
    std::map<std::uint64_t, GroupLink> groups_;                   ///< the open groups, by number
    std::deque<Waiting> waiting_;
    Credits credits_;
    HeldBack held_back_;
    std::atomic<std::uint64_t> releases_{0}; ///< waits so far
    std::vector<std::uint64_t> last_sent_; ///< by rank: the value of releases_ when the last message of a sink was sent
    MessageSinks sinks_;
    Unconfirmed unconfirmed_;
    std::atomic<std::uint64_t> messages_{0}, direct_{0};
    std::uint64_t events_ = 0;     ///< events of the transport so far
    std::chrono::seconds timeout_; ///< without a heartbeat
    bool waits_for_stopped_;
    std::atomic<bool> heartbeat_due_{false}; ///< the thread that holds the lock must send a heartbeat
    std::atomic<bool> leaves_{false};        ///< misses nobody, because the others leave, too
    std::unique_ptr<MissedHeartbeats> missed_of_hosts_, missed_of_neighbours_; ///< by host, by local rank
    std::vector<std::uint64_t> neighbours_beats_;                              ///< by local rank: the count seen last
    int beats_without_connection_ = 0;                                         ///< since a connection has failed
    Agent agent_;
};

} // namespace kumiki::fabric
