#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "message/copier.hpp"
#include "message/request_table.hpp"

namespace kumiki::message {

/// Messages between ranks of one host. A small one travels in a cell, one of at most a fragment in the area that the
/// receiver has for this sender, and is complete at the sender then; a longer one is announced by a cell and copied
/// when the receiver has asked for it (Copier), or flows through the area in fragments where neither process can reach
/// the other's memory.
///
/// Flow control: cells and slots of the area come back when the receiver has emptied them. A message that was not asked
/// for stays in its slot, and so many small ones as `most_small` are kept; what comes on top of that is announced and
/// stays with its sender. So the receiver can always look further for the message that it waits for.
class Near {
public:
    Near(RequestTable& table, Ways ways, std::size_t fragment, std::size_t longest_part);

    /// Small messages of one sender that may wait at their receiver.
    static constexpr std::uint64_t most_small = 1024;
    /// Slots that messages which were not asked for must leave: fragments, for which a receive waits, go through these.
    static constexpr int slots_for_fragments = 4;

    /// Whether progress() has anything to do; whether that is because something has come.
    bool pending() const {
        return has_arrived() || working_.load(std::memory_order_relaxed) != 0 ||
               table_.fabric.memory().own().correspondents.count.load(std::memory_order_acquire) !=
                   introductions_.load(std::memory_order_relaxed);
    }
    bool has_arrived() const {
        for (int i = 0, known = known_count_.load(std::memory_order_acquire); i < known; ++i)
            if (known_[static_cast<std::size_t>(i)]->from.has_arrived()) return true;
        return false;
    }
    void copy() {
        copier_.run([this](Request& receive) { tell_finished(receive.rank, receive.token); });
    }

    // -- with the table's lock held --

    /// Null: it is complete.
    Request* send(int rank, int tag, std::span<const std::byte> data);
    /// Gives a receive the message that came before it; the arrival can go then.
    void give(Request& receive, Arrival& arrival);
    /// Takes what has come, sends what waited for room.
    void progress();
    /// Slots of the areas of others that this rank has not got back.
    int slots_in_use();

private:
    enum class Kind : std::uint8_t {
        small,    ///< a message, whole
        area,     ///< a message in a slot
        announce, ///< Announcement: a message that stays with its sender
        share,    ///< Reply: the sender may help to copy it by transfer number `word`
        flow,     ///< Reply: its fragments shall come through the area, marked with `word`
        fragment, ///< Reply: a part for the receive `request`, from byte `word` on
        finished, ///< Reply: it has been received
    };
    struct Reply {
        std::uint64_t request, word;
    };
    struct Peer {
        Peer(fabric::Fabric& fabric, int local);
        int rank;
        fabric::shm::ChannelWriter to;
        fabric::shm::ChannelReader from;
        std::uint64_t sent_small = 0, settled = 0;    ///< settled: as last seen
        bool introduced = false;                      ///< it looks into its channel from here
        std::deque<fabric::shm::CellContent> replies; ///< that wait for room
        List<Request> unsent;                         ///< sends that wait for room
        List<Request> flowing;                        ///< sends whose fragments go through the area
        bool has_work() const { return !replies.empty() || !unsent.empty() || !flowing.empty(); }
    };
    enum class Start { no_room, complete, to_announce };

    Peer& peer(int rank) { return *peers_[static_cast<std::size_t>(table_.fabric.memory().local_rank(rank))]; }
    Start start(Peer& to, int tag, std::span<const std::byte> data);
    bool start(Peer& to, Request& send);
    void announce(Peer& to, Request& send);
    void publish(Peer& to);
    void introduce(Peer& to);
    bool may_send_small(Peer& to);
    void reply(Peer& to, Kind kind, Reply reply);
    void tell_finished(int rank, std::uint64_t request) { reply(peer(rank), Kind::finished, {request, 0}); }
    void send_waiting(Peer& to);
    void send_fragments(Peer& to);
    void expect_work(Peer& to, bool had_work);

    void meet_new_peers();
    void take(Peer& from);
    void take(Peer& from, const fabric::shm::CellContent& cell);
    void take_area(Peer& from, const fabric::shm::CellContent& cell);
    void take_announcement(Peer& from, const fabric::shm::CellContent& cell);
    void take_fragment(Peer& from, const fabric::shm::CellContent& cell);
    void fetch(Request& receive, const Announcement& announced);

    RequestTable& table_;
    Copier copier_;
    std::size_t fragment_;                     ///< what a slot takes
    std::vector<std::unique_ptr<Peer>> peers_; ///< by local rank
    std::vector<Peer*> known_;                 ///< which have sent something: the first `known_count_`
    std::atomic<int> known_count_{0};
    std::atomic<std::uint64_t> introductions_{0}; ///< as last seen
    std::atomic<int> working_{0};                 ///< peers that have work
};

} // namespace kumiki::message
