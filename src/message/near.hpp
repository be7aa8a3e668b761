#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "message/copier.hpp"
#include "message/request_table.hpp"

namespace kumiki::message {

/// Messages between ranks of one host. A small message travels in one cell or two, and one of at most a fragment in the
/// area that the receiver has for this sender; both are then complete at the sender. A longer message uses a
/// rendezvous: a cell announces it, and it is copied directly once its receive is posted (Copier), or goes through the
/// area in fragments where neither process can reach the other's memory.
///
/// Flow control: cells and slots of the area are returned when the receiver has emptied them. An unexpected message
/// stays in its slot, and up to `most_small` small unexpected messages are kept; further messages are announced and
/// stay at the sender, a short one as a copy. So the receiver can always look further for the message that it waits
/// for.
class Near {
public:
    /// `reserve`: bytes for long messages that arrive before their receive is posted.
    Near(RequestTable& table, Ways ways, std::size_t fragment, std::size_t longest_part, std::size_t reserve);

    /// The number of small messages of one sender that may wait at their receiver.
    static constexpr std::uint64_t most_small = 1024;
    /// The number of long slots that are not available to messages, which may be unexpected. They are reserved for
    /// fragments, for which a receive waits.
    static constexpr int slots_for_fragments = 4;

    /// pending(): whether progress() has anything to do. has_arrived(): whether that is because a message has arrived.
    bool pending() const {
        return has_arrived() || has_work() || promised_count_.load(std::memory_order_relaxed) != 0 ||
               table_.fabric.memory().own().correspondents.count.load(std::memory_order_acquire) !=
                   introductions_.load(std::memory_order_relaxed);
    }
    /// Whether something waits for room at another rank.
    bool has_work() const { return working_.load(std::memory_order_relaxed) != 0; }
    bool has_arrived() const {
        for (int i = 0, known = known_count_.load(std::memory_order_acquire); i < known; ++i)
            if (known_[static_cast<std::size_t>(i)]->from.has_arrived()) return true;
        return false;
    }

    // -- without the table's lock: these touch the memory of sends and receives --

    /// Returns null when the send is complete.
    Request* send(int rank, int tag, std::span<const std::byte> data);
    /// Receives the messages that have arrived, and sends those that waited for room.
    void progress();
    /// Messages that have been sent in slots.
    std::uint64_t filled_slots() const { return filled_slots_.load(std::memory_order_relaxed); }
    /// Copies a part of a long message.
    void copy() { copy(Copier::Which::all); }

    /// For a thread whose wait takes long: asks the agents of ranks that have not answered an announcement to do so.
    void call_agents();
    /// For the agent: receives, and makes room in the reserve for announced messages for which no receive is posted.
    void serve();

    // -- with the table's lock held --

    /// Gives a receive the message that arrived before it was posted, and releases the lock and the arrival.
    void give(std::unique_lock<Lock>& lock, Request& receive, Arrival& arrival);
    /// The number of slots in other ranks' areas that have not been returned to this rank.
    int slots_in_use();

private:
    enum class Kind : std::uint8_t {
        small,    ///< a whole message, in one cell or two
        area,     ///< a message in a slot
        announce, ///< Announcement: a message that stays at its sender
        share,    ///< Reply: the sender may help to copy it by transfer number `word`
        flow,     ///< Reply: the fragments are to come through the area, marked with `word`
        fragment, ///< Reply: a part for the receive `request`, from byte `word` on
        finished, ///< Reply: the message has been received
    };
    struct Reply {
        std::uint64_t request, word;
    };
    /// A message that waits for room in the channel: its data are in its cell, or (when it is announced) at the sender.
    struct Unsent {
        Unsent *next = nullptr, *previous = nullptr;
        std::atomic<bool> free{false};
        fabric::shm::CellContent cell;
        Request* send;
    };
    struct Peer {
        Peer(fabric::Fabric& fabric, int local);
        int rank;
        fabric::shm::ChannelWriter to;
        fabric::shm::ChannelReader from;
        std::uint64_t sent_small = 0, settled = 0;    ///< settled: as last seen
        int unanswered = 0;                           ///< announcements
        bool introduced = false;                      ///< the peer polls its channel from this rank
        std::deque<fabric::shm::CellContent> replies; ///< replies waiting for room
        List<Unsent> unsent;                          ///< sends waiting for room
        List<Request> flowing;                        ///< sends whose fragments go through the area
        bool has_work() const { return !replies.empty() || !unsent.empty() || !flowing.empty(); }
    };
    /// The place of a message that needs no request.
    struct Place {
        static constexpr int in_cell = -1;
        std::uint64_t cell;
        int slot;
    };
    struct Arrived;
    struct Leaving;
    class Copies;

    Peer& peer(int rank) { return *peers_[static_cast<std::size_t>(table_.fabric.memory().local_rank(rank))]; }
    std::optional<Place> claim(Peer& to, std::size_t bytes);
    void fill(Peer& to, Place place, int tag, std::span<const std::byte> data);
    Request* send_later(Peer& to, int tag, std::span<const std::byte> data);
    bool start(Peer& to, fabric::shm::CellContent& cell, Request& send);
    void announce(const Request& send, fabric::shm::CellContent& cell);
    std::uint64_t claim_cells(Peer& to, int count);
    void publish(Peer& to, const fabric::shm::CellContent& cell);
    void introduce(Peer& to);
    bool may_send_small(Peer& to);
    void post(Peer& to, const fabric::shm::CellContent& cell);
    void reply(Peer& to, Kind kind, Reply reply);
    void tell_finished(int rank, std::uint64_t request) { reply(peer(rank), Kind::finished, {request, 0}); }
    void send_waiting(Peer& to, Copies& copies);
    void claim_fragments(Peer& to, Copies& copies);
    void expect_work(Peer& to, bool had_work);

    void make_rare(Copies& copies);
    bool copy(Copier::Which which) {
        return copier_.run([this](Request& receive) { tell_finished(receive.rank, receive.token); }, which);
    }
    void note_answered(Peer& from);
    void call_agent(int rank);
    void reserve(Arrival& arrival);
    void take_promised(Copies& copies);
    void hand_over(Arrival& arrival);
    void store(const Arrived& arrived);
    void count_copied(Request& request, std::size_t bytes);

    void meet_new_peers();
    void take(Peer& from, Copies& copies);
    void take(Peer& from, const fabric::shm::CellContent& cell, Copies& copies);
    void take_message(Peer& from, const fabric::shm::CellContent& cell, Copies& copies);
    void take_announcement(Peer& from, const fabric::shm::CellContent& cell);
    void take_fragment(Peer& from, const fabric::shm::CellContent& cell, Copies& copies);
    static void address(Arrived& arrived, Request& receive, Peer& from, int tag, std::size_t bytes);
    void fetch(Request& receive, const Announcement& announced);

    RequestTable& table_;
    Copier copier_;
    std::size_t fragment_;                       ///< the bytes that a long slot holds
    std::vector<std::unique_ptr<Peer>> peers_;   ///< by local rank
    std::atomic<std::uint64_t> filled_slots_{0}; ///< written under the lock only
    Pool<Unsent> unsent_;
    std::vector<Peer*> known_; ///< the first `known_count_` entries are the peers that have sent something
    std::atomic<int> known_count_{0};
    std::atomic<std::uint64_t> introductions_{0}; ///< as last seen
    std::atomic<int> working_{0};                 ///< peers that have work
    std::atomic<int> unanswered_{0};              ///< announcements that no peer has answered
    std::atomic<std::size_t> reserve_;            ///< bytes that are left
    std::atomic<bool> refused_{false};            ///< a message has found no room in it
    List<Arrival> promised_;                      ///< messages of the reserve whose receive is posted
    std::atomic<int> promised_count_{0};
};

} // namespace kumiki::message
