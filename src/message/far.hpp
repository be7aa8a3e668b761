#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "fabric/network/network.hpp"
#include "message/request_table.hpp"

namespace kumiki::message {

/// Messages to ranks of other hosts. One of at most a fragment leaves at once, or as soon as there is room on the way,
/// and is complete at the sender then (a short one is copied, and always complete at once): no send waits. Whoever
/// receives (a thread that waits, or the agent) puts it into the memory of its receive, or keeps it until that comes. A
/// longer one is announced, and its fragments follow, straight into the memory of the receive, once that is known;
/// other messages go in between.
///
/// Flow control: of what one rank has sent and nobody has asked for, at most `window` bytes are kept; what comes on top
/// is announced and stays with its sender. Of a long message at most `window` bytes are under way, so that a short one
/// finds the way nearly free.
class Far final : public fabric::MessageSink {
public:
    /// `longest`: of the fragments of a message that is announced; 0: as `fragment`, which is also what leaves at once.
    Far(RequestTable& table, fabric::Network& network, std::size_t fragment, std::size_t longest);
    ~Far() override { network_.dismiss(fabric::SinkId::messages); }
    Far(const Far&) = delete;
    Far& operator=(const Far&) = delete;

    static constexpr std::uint64_t window = std::uint64_t{1} << 20;

    // -- without the table's lock --

    /// Null: it is complete.
    Result<Request*> send(int rank, int tag, std::span<const std::byte> data);
    /// Gives a receive the message that came before it.
    void give(Request& receive, const Arrival& arrival);

private:
    /// Sends and receives are meant by numbers in `sends_` and `receives_` of the rank that has them.
    enum class Kind : std::uint8_t {
        whole,    ///< a message: tag in `value`
        announce, ///< one of `bytes` bytes, the send `ticket`
        clear,    ///< the send `ticket` may begin; its fragments are for the receive `value`
        fragment, ///< for the receive `ticket`, from byte `offset` on
        passed,   ///< of the send `ticket`, `value` bytes have come
        finished, ///< the send `ticket` is complete without them
        credit,   ///< of the messages of the receiver, `value` bytes in all have found their receive
    };
    /// What is between this rank and another one.
    struct Peer {
        std::atomic<std::uint64_t> sent{0}, returned{0}; ///< bytes; returned: as the other says
        std::atomic<std::uint64_t> settled{0};           ///< bytes of the other's messages
    };
    struct Flow {
        Request* send;
        std::uint64_t passed = 0;
        bool posted = false; ///< a fragment has not left yet
    };
    /// What a message counts for, be it ever so small.
    static std::uint64_t weight(std::size_t bytes) { return bytes + 64; }

    bool receive(const fabric::MessageHeader& header, std::span<const std::byte> payload) override;
    void left(std::uint64_t ticket) override;
    bool pump() override;
    bool pump(Flow& flow);
    Result<Request*> send_whole(int rank, int tag, std::span<const std::byte> data);
    Request& open_send(int rank, int tag, std::span<const std::byte> data);

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
    std::size_t whole_;                         ///< longest message that leaves at once
    std::size_t fragment_;                      ///< of longer ones
    std::vector<Peer> peers_;                   ///< by rank
    fabric::Tickets<Request> sends_, receives_; ///< that the other side knows by number
    std::list<Flow> flows_;                     ///< long messages that are being sent; by the network's lock
};

} // namespace kumiki::message
