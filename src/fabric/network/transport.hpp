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
    put,            ///< writes the payload, which may be empty, to `offset`; the last fragment also raises the signal
    get,            ///< requests `bytes` bytes from `offset`
    got,            ///< a part of the data that a get requested, `offset` bytes from their beginning
    atomic,         ///< an atomic operation on the word at `signal`
    answer,         ///< the reply to atomic and flush, with the result in `value`
    flush,          ///< requests an answer, which means that all earlier messages have been carried out
    active_message, ///< payload for handler number `value`
    credit,         ///< in total, `value` active messages of the receiver of this credit have been taken
    collective,     ///< a part of a message of a collective of group `signal`
    barrier,    ///< the sender has reached round `value` of barrier number `ticket` between the hosts of group `signal`
    arrived,    ///< the last rank of a host has entered barrier number `ticket` of group `signal`
    message,    ///< belongs to a layer above (MessageSink)
    burst,      ///< several messages, each a header and its payload, that were held back to travel together
    heartbeat,  ///< the heartbeat of a host
    call,       ///< the sender, a host's leader in group `signal`, is in its collective `value`
    share,      ///< requests the key of the region of `bytes` bytes at `offset`
    shared,     ///< the reply: the key (empty: none), and the region's address in `value`
    difference, ///< in group `signal`, rank `offset` is in collective `value` but rank `bytes` in `ticket`
};

/// The layers above that have their own messages; each defines the meaning of the other fields of MessageHeader.
enum class SinkId : std::uint8_t {
    messages, ///< two-sided messages (message/)
    pages,    ///< pages of shared arrays (dsm/)
    count,
};

/// Travels after the target's key and before the payload. All ranks of a job run on the same kind of machine, with the
/// same version of the library, so the header needs no conversion.
struct MessageHeader {
    static constexpr std::uint8_t no_signal = 0xff;
    MessageKind kind{};
    std::uint8_t operation = no_signal; ///< the kind of signal or atomic
    SinkId sink{};                      ///< for MessageKind::message: the receiver
    std::int32_t source = 0;            ///< the sending rank
    std::uint64_t offset = 0;           ///< in the target's arena
    std::uint64_t bytes = 0;            ///< total length, when the payload is only a part
    std::uint64_t signal = 0;           ///< offset of a word in the target's arena; or the number of a group
    std::uint64_t value = 0;
    std::uint64_t ticket = 0; ///< returned with the answer; for a collective, the tag
};

/// The engine below the network fabric. Carries messages between ranks, in order between any two, and wakes a sleeping
/// thread when one arrives. Not thread-safe: Network admits one thread at a time.
class Transport {
public:
    /// Callbacks from inside send(), post() and progress().
    struct Events {
        /// A message that has shown this rank's key has arrived. Its fields have not been checked.
        std::function<void(const MessageHeader& header, std::span<const std::byte> payload)> received;
        /// A message that did not show the key has arrived and was discarded.
        std::function<void()> refused;
        /// The message posted with this header and ticket has left, or never will; its payload may be reused.
        std::function<void(const MessageHeader& header, std::uint64_t ticket)> left;
        /// A call of this rank has to wait until the transport has room. The callback may post.
        std::function<void()> waiting;
        /// The transfer begun with this ticket has ended. Without success, the data are not there, or only in part.
        std::function<void(std::uint64_t ticket, bool succeeded)> moved;
    };
    /// The lengths of payloads that suit the network.
    struct Limits {
        std::size_t burst; ///< of short messages that travel together
        std::size_t part;  ///< the longest payload that is sent without being cut, and the best one for throughput
    };
    /// A payload of up to this length is copied where that avoids waiting; copying a longer one would cost more than
    /// the wait.
    static constexpr std::size_t longest_kept = std::size_t{8} << 10;

    virtual ~Transport() = default;

    virtual Limits limits() const = 0;

    /// The address of a rank, and the key that messages to it must show.
    struct Peer {
        std::vector<std::byte> address;
        Key key;
    };

    /// The address of this rank, for its card.
    virtual std::vector<std::byte> address() const = 0;
    /// Sets the addresses and keys of all ranks. The first message to a rank makes the connection.
    virtual void know(std::vector<Peer> peers) = 0;
    /// Sends a message; on return, header and payload may be reused. A message to a rank that has left is lost, which
    /// is not a failure. A payload of at most `longest_kept` is copied and kept until there is room to send it; with a
    /// longer payload, or when much is kept already, the call waits, and receives meanwhile.
    virtual Result<> send(int rank, const MessageHeader& header, std::span<const std::byte> payload) = 0;
    /// The same, but takes ownership of the payload, however long it is.
    virtual Result<> give(int rank, const MessageHeader& header, std::vector<std::byte> payload) = 0;
    /// Sends without waiting, so that Events callbacks can use it. Returns true when the payload may be reused. Returns
    /// false when it must not change until Events::left reports `ticket`; ticket 0 is never reported.
    virtual Result<bool> post(int rank, const MessageHeader& header, std::span<const std::byte> payload,
                              std::uint64_t ticket) = 0;
    /// Receives the messages that have arrived; returns whether there was anything to do.
    virtual bool progress() = 0;
    /// A file descriptor that, after arm() has returned true, is readable when progress() has something to do.
    virtual int descriptor() const = 0;
    virtual bool arm() = 0;
    /// A connection that has failed; messages to that rank are lost. Ranks leave at different times, so the other end
    /// may simply have left.
    struct Failed {
        int rank;
        std::string reason;
    };
    virtual std::optional<Failed> failed() const = 0;
    /// Whether there is a connection to that rank, and it has not failed.
    virtual bool is_connected(int rank) const = 0;
    /// Waits until all messages have been handed to the network, so that this process can leave.
    virtual void drain() = 0;

    // -- where the network itself writes and reads the memory of other ranks (docs/decisions/remote-writes.md) --

    enum class Direction : std::uint8_t { put, get };
    /// Whether transfers go directly, without the processor of the other rank, and why, in the engine's words. Before
    /// the first transfer, `is_direct` only means that nothing speaks against it.
    struct Route {
        bool is_direct;
        std::string why;
    };
    /// A piece of another rank's memory. It must not outlive the transport.
    class Window {
    public:
        virtual ~Window() = default;
    };
    enum class Begun : std::uint8_t {
        refused,   ///< nothing is under way, and messages have to carry the data
        under_way, ///< Events::moved reports the end
        complete,
    };
    virtual Route route(int rank, Direction direction) = 0;
    /// Lets the ranks that know the returned key write and read this memory, until withdraw(). Returns an empty key
    /// when the network cannot do that.
    virtual std::vector<std::byte> share(std::span<std::byte> memory) = 0;
    virtual void withdraw(const std::byte* memory) = 0;
    /// Returns null when the network cannot use this key of that rank. The key must be one that share() has returned
    /// there.
    virtual std::shared_ptr<Window> open_window(int rank, std::span<const std::byte> key) = 0;
    /// Moves the bytes `here` to (put) or from (get) the address `there` of the other rank. A put has ended when the
    /// data are in the target's memory; what is sent afterwards comes after them. Until the end, `here` must not
    /// change (put) or be used (get).
    virtual Begun begin(Window& window, Direction direction, std::uint64_t there, std::span<std::byte> here,
                        std::uint64_t ticket) = 0;
};

/// Opens the engine installed next to the library. Only jobs on several hosts load it, so other jobs need neither wait
/// for it nor install it. `interface` names the network interface, or several (eth0,mlx5_0:1); empty stands for any.
/// `key` is what messages to this rank must show.
Result<std::shared_ptr<Transport>> open_transport(const std::string& interface, const Key& key,
                                                  Transport::Events events);

/// Loads the engine so that it calls no functions of the program, for a program whose memory the engine serves. Before
/// open_transport().
Result<> load_transport_apart();

/// The function that an engine's module exports under the name kumiki_open_transport.
using OpenTransport = Result<std::unique_ptr<Transport>> (*)(const std::string& interface, const Key& key,
                                                             Transport::Events events);

} // namespace kumiki::fabric
