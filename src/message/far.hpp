#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "fabric/network/network.hpp"
#include "message/request_table.hpp"

namespace kumiki::message {

/// Messages to ranks of other hosts. A message of at most a fragment is sent eagerly, at once or as soon as there is
/// room, and is then complete at the sender (a short one is copied and always complete at once). No send waits. The
/// receiving thread (one that waits, or the agent) puts the message into the memory of its receive, or keeps it until
/// that receive is posted. A longer message uses a rendezvous: it is announced, and once its receive is known its
/// fragments go straight into the memory of that receive; other messages go in between.
///
/// Flow control: a receiver keeps at most `window` bytes of unexpected messages per sender; further messages are
/// announced and stay at the sender, a short one as a copy. At most `window` bytes of a long message are in flight, so
/// that a short message finds the connection nearly free.
class Far final : public fabric::MessageSink {
public:
    /// `longest` is the length of the fragments of an announced message; 0 means `fragment`, which is also the longest
    /// eager message.
    Far(RequestTable& table, fabric::Network& network, std::size_t fragment, std::size_t longest);
    ~Far() override { network_.dismiss(fabric::SinkId::messages); }
    Far(const Far&) = delete;
    Far& operator=(const Far&) = delete;

    static constexpr std::uint64_t window = std::uint64_t{1} << 20;

    // -- without the table's lock --

    /// Returns null when the send is complete.
    Result<Request*> send(int rank, int tag, std::span<const std::byte> data);
    /// Gives a receive the message that arrived before it was posted.
    void give(Request& receive, const Arrival& arrival);

private:
    /// Messages name sends and receives by their numbers in `sends_` and `receives_` of the rank that owns them.
    enum class Kind : std::uint8_t {
        whole,    ///< a whole (eager) message, with its tag in `value`
        announce, ///< announces a message of `bytes` bytes, the send `ticket`
        clear,    ///< clear to send: the send `ticket` may begin, and its fragments go to the receive `value`
        fragment, ///< a fragment for the receive `ticket`, from byte `offset` on
        passed,   ///< `value` bytes of the send `ticket` have arrived
        finished, ///< the send `ticket` is complete without fragments
        credit,   ///< in total, `value` bytes of messages of the receiver of this credit have found their receive
    };
    /// Flow-control state between this rank and another one.
    struct Peer {
        std::atomic<std::uint64_t> sent{0}, returned{0}; ///< bytes; returned: as reported by the peer
        std::atomic<std::uint64_t> settled{0};           ///< bytes of the peer's messages
    };
    struct Flow {
        Request* send;
        std::uint64_t passed = 0;
        bool posted = false; ///< a fragment has not left yet
    };
    /// The bytes for which a message counts: its length plus a constant, so that empty messages count, too.
    static std::uint64_t weight(std::size_t bytes) { return bytes + 64; }

    bool receive(const fabric::MessageHeader& header, std::span<const std::byte> payload) override;
    void left(std::uint64_t ticket) override;
    bool pump() override;
    bool pump(Flow& flow);
    Result<Request*> send_whole(int rank, int tag, std::span<const std::byte> data);
    Request& open_send(int rank, int tag, std::span<const std::byte> data, std::unique_ptr<std::byte[]> kept);

    fabric::MessageHeader header(Kind kind, std::uint64_t ticket = 0, std::uint64_t value = 0) const;
    bool take_whole(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    bool take_announcement(const fabric::MessageHeader& header);
    bool begin(const fabric::MessageHeader& header);
    bool take_fragment(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    bool note_passed(const fabric::MessageHeader& header);
    bool finish(const fabric::MessageHeader& header);
    bool take_credit(const fabric::MessageHeader& header);
    Request* waiting_send(const fabric::MessageHeader& header);
    fabric::MessageHeader answer(Request& receive, std::uint64_t bytes, std::uint64_t ticket);
    bool settle(int source, std::size_t bytes, fabric::MessageHeader& credit);
    Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

    RequestTable& table_;
    fabric::Network& network_;
    std::size_t whole_;                         ///< the longest eager message
    std::size_t fragment_;                      ///< the fragments of longer messages
    std::vector<Peer> peers_;                   ///< by rank
    fabric::Tickets<Request> sends_, receives_; ///< known to the other side by number
    std::list<Flow> flows_;                     ///< long messages being sent; guarded by the network's lock
};

} // namespace kumiki::message
