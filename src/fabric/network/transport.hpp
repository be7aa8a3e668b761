#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "error/result.hpp"
#include "fabric/network/key.hpp"

namespace kumiki::fabric {

enum class MessageKind : std::uint8_t {
    put,            ///< payload, which may be empty, to `offset`; with the last fragment the signal
    get,            ///< asks for `bytes` from `offset`
    got,            ///< a part of what get asked for, `offset` bytes from its beginning
    atomic,         ///< changes the word at `signal`
    answer,         ///< to atomic and flush: `value`
    flush,          ///< asks for an answer: then all that was sent before has been done
    active_message, ///< payload for handler number `value`
    credit,         ///< so many active messages of the receiver, `value` in all, have been taken
    collective,     ///< a part of a message of a collective of group `signal`
    barrier,        ///< round `value` of the hosts' barrier number `ticket` of group `signal`
    arrived,        ///< the last rank of a host has entered barrier number `ticket` of group `signal`
    message,        ///< of a floor above: MessageSink
    burst,          ///< several messages, each a header and its payload, that were held back to travel together
    sign_of_life,   ///< a host lives
    call,           ///< the sender, a host's leader in group `signal`, is in its collective `value`
    difference,     ///< of group `signal`: rank `offset`, in collective `value`, and rank `bytes`, in `ticket`, wait in
                    ///< vain
};

/// The floors above that have messages of their own; each gives MessageHeader's other fields a meaning.
enum class SinkId : std::uint8_t {
    messages, ///< between sends and receives (message/)
    count,
};

/// What travels before the payload, behind the target's key. Ranks of one job run on machines of one kind, with one
/// version of the library.
struct MessageHeader {
    static constexpr std::uint8_t no_signal = 0xff;
    MessageKind kind{};
    std::uint8_t operation = no_signal; ///< of the signal or the atomic
    SinkId sink{};                      ///< of MessageKind::message: who it is for
    std::int32_t source = 0;            ///< the rank that sends
    std::uint64_t offset = 0;           ///< in the target's arena
    std::uint64_t bytes = 0;            ///< of the whole, where the payload is a part of it
    std::uint64_t signal = 0;           ///< offset of a word in the target's arena; a group
    std::uint64_t value = 0;
    std::uint64_t ticket = 0; ///< comes back with the answer; the tag of a message of a collective
};

/// The engine below the network fabric: carries messages between ranks, in order between any two, and wakes who sleeps
/// when one comes. Not thread-safe: Network lets one thread in at a time.
class Transport {
public:
    /// What the engine tells, from within send(), post() and progress().
    struct Events {
        /// A message that has shown this rank's key; of its fields nothing is known.
        std::function<void(const MessageHeader& header, std::span<const std::byte> payload)> received;
        /// Something has come that has not shown the key: it was thrown away.
        std::function<void()> refused;
        /// What was posted with this header and ticket has left, or never will: its payload may change.
        std::function<void(const MessageHeader& header, std::uint64_t ticket)> left;
        /// A call of this rank has to wait until the transport has room. May post.
        std::function<void()> waiting;
    };
    /// What fills one segment as TCP hands it to a network card that cuts it (64 KiB at most, 45 packets of 1448
    /// bytes), with the headers: a message that is a little longer costs nearly twice as much.
    static constexpr std::size_t segment = 65024;
    /// How long a payload is sent without being cut; the best length for throughput, too.
    static constexpr std::size_t longest_payload = 2 * segment;
    /// A payload up to here is copied where that spares waiting; the copy of a longer one would cost more.
    static constexpr std::size_t longest_kept = std::size_t{8} << 10;

    virtual ~Transport() = default;

    /// Where a rank is reached, and what it wants to be shown.
    struct Peer {
        std::vector<std::byte> address;
        Key key;
    };

    /// Where this rank is reached, for the cards of the others.
    virtual std::vector<std::byte> address() const = 0;
    /// All ranks; a connection is made with the first message.
    virtual void know(std::vector<Peer> peers) = 0;
    /// Sends; on return header and payload may change. What is sent to a rank that has gone is lost, and that is no
    /// failure. A payload of at most `longest_kept` is kept until there is room
    /// for it on the way; for a longer one, and when much is kept already, this waits, and receives meanwhile.
    virtual Result<> send(int rank, const MessageHeader& header, std::span<const std::byte> payload) = 0;
    /// The same, but it keeps what it is given, however long.
    virtual Result<> give(int rank, const MessageHeader& header, std::vector<std::byte> payload) = 0;
    /// Sends without waiting, for who is called by Events. True: the payload may change. False: it must stay as it is
    /// until Events::left tells `ticket`; of ticket 0 nothing is told.
    virtual Result<bool> post(int rank, const MessageHeader& header, std::span<const std::byte> payload,
                              std::uint64_t ticket) = 0;
    /// Receives what has come; whether there was anything to do.
    virtual bool progress() = 0;
    /// Readable when progress() has something to do, after arm() has returned true.
    virtual int descriptor() const = 0;
    virtual bool arm() = 0;
    /// A connection that has failed: messages to that rank are lost. Ranks leave at different times, so the other end
    /// may just have gone.
    struct Failed {
        int rank;
        std::string reason;
    };
    virtual std::optional<Failed> failed() const = 0;
    /// Waits until all that was sent is on its way, so that this end can go.
    virtual void drain() = 0;
};

/// Opens the engine that is installed beside the library. It is loaded only by jobs of several hosts: others need not
/// wait for it, nor have it. `interface`: the network interface by name, or several (eth0,mlx5_0:1); empty: any. `key`:
/// what a message to this rank must show.
Result<std::shared_ptr<Transport>> open_transport(const std::string& interface, const Key& key,
                                                  Transport::Events events);

/// What an engine's module exports under the name kumiki_open_transport.
using OpenTransport = Result<std::unique_ptr<Transport>> (*)(const std::string& interface, const Key& key,
                                                             Transport::Events events);

} // namespace kumiki::fabric
