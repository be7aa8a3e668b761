#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "launch/protocol/frame.hpp"
#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "launch/command/outcome.hpp"

namespace kumiki::launch {

/// The messages between the front and the keepers of several hosts. Numbers are never used again for something else.
enum class MessageType : std::uint32_t {
    hello = 1,
    order = 2,
    ready = 3,
    start = 4,
    word = 5,
    end = 6,
    bytes = 7,
    written = 8,
    closed = 9,
    card = 10,
    verdict = 11,
    remark = 12,
    done = 13,
    alive = 14,
    stopped = 15,
};

/// The hidden option by which the front over several hosts starts this program on each of them.
inline constexpr std::string_view keep_option = "--keep";

/// Hosts have so long to be ready; then they are given up, or give up waiting.
inline constexpr std::chrono::seconds start_limit(30);

/// At most so many bytes of a stream are on their way or wait to be written: a reader that has stopped reading must not
/// keep other messages back, nor fill our memory.
inline constexpr std::size_t stream_window = std::size_t{1} << 20;

/// keeper -> front, first.
struct Hello {
    static constexpr auto type = MessageType::hello;
    std::string version; ///< of this kumiki-run; both sides must have the same
    static auto fields(auto& self) { return std::tie(self.version); }
};

/// front -> keeper: what is to be run.
struct Order {
    static constexpr auto type = MessageType::order;
    Share share;
    std::vector<std::string> program;
    std::string folder;
    Variables environment; ///< what the ranks find besides the host's own variables
    Variables settings;    ///< that options have set
    bool verbose = false;
    static auto fields(auto& self) {
        return std::tie(self.share, self.program, self.folder, self.environment, self.settings, self.verbose);
    }
};

/// keeper -> front: what the front has to know of all hosts before any starts.
struct Ready {
    static constexpr auto type = MessageType::ready;
    std::uint64_t arena_bytes = 0; ///< that this host would choose
    std::string cores;             ///< the same for hosts that share one machine and its cores
    std::string addresses;         ///< of this host in the network (platform::addresses_of)
    static auto fields(auto& self) { return std::tie(self.arena_bytes, self.cores, self.addresses); }
};

/// front -> keeper: go.
struct Start {
    static constexpr auto type = MessageType::start;
    std::uint64_t arena_bytes = 0;        ///< the same on all hosts
    int neighbours_before = 0;            ///< ranks of other hosts on the same cores that come before this host's
    int ranks_on_cores = 0;               ///< ranks of all hosts on the same cores
    std::vector<std::string> other_hosts; ///< the addresses of each
    static auto fields(auto& self) {
        return std::tie(self.arena_bytes, self.neighbours_before, self.ranks_on_cores, self.other_hosts);
    }
};

/// front -> keeper: a signal for the ranks.
struct SignalWord {
    static constexpr auto type = MessageType::word;
    int signal = 0;
    static auto fields(auto& self) { return std::tie(self.signal); }
};

/// front -> keeper: the job has failed elsewhere.
struct End {
    static constexpr auto type = MessageType::end;
    static auto fields(auto&) { return std::tuple<>(); }
};

/// Both ways: part of a standard stream, by its descriptor's number: 0 to rank 0, 1 and 2 from a rank. An empty part is
/// the end of the stream.
struct Bytes {
    static constexpr auto type = MessageType::bytes;
    int rank = 0;
    int stream = 0;
    std::string text;
    static auto fields(auto& self) { return std::tie(self.rank, self.stream, self.text); }
};

/// Back to the sender of Bytes: so many have left, and so many more may come.
struct Written {
    static constexpr auto type = MessageType::written;
    int stream = 0;
    std::uint64_t bytes = 0;
    static auto fields(auto& self) { return std::tie(self.stream, self.bytes); }
};

/// Back to the sender of Bytes: nobody reads the stream any more.
struct Closed {
    static constexpr auto type = MessageType::closed;
    int stream = 0;
    static auto fields(auto& self) { return std::tie(self.stream); }
};

/// keeper -> front -> all keepers: what a rank wants the others to know.
struct Card {
    static constexpr auto type = MessageType::card;
    int rank = 0;
    std::string text;
    static auto fields(auto& self) { return std::tie(self.rank, self.text); }
};

/// keeper -> front: why the job ends before its time, as soon as it is known.
struct Judgement {
    static constexpr auto type = MessageType::verdict;
    Verdict verdict;
    static auto fields(auto& self) { return std::tie(self.verdict); }
};

/// keeper -> front: a sentence for the user.
struct Remark {
    static constexpr auto type = MessageType::remark;
    std::string text;
    static auto fields(auto& self) { return std::tie(self.text); }
};

/// keeper -> front, last: nothing of the job is left on this host.
struct Done {
    static constexpr auto type = MessageType::done;
    static auto fields(auto&) { return std::tuple<>(); }
};

/// keeper -> front: so many ranks of its host are stopped; front -> keeper: so many of the job.
struct Stopped {
    static constexpr auto type = MessageType::stopped;
    int ranks = 0;
    static auto fields(auto& self) { return std::tie(self.ranks); }
};

/// Both ways, now and then.
struct Alive {
    static constexpr auto type = MessageType::alive;
    static auto fields(auto&) { return std::tuple<>(); }
};

template <class Message>
Frame as_frame(const Message& message) {
    PayloadWriter writer;
    writer.put(message);
    return {static_cast<std::uint32_t>(Message::type), writer.take()};
}

/// Nothing when the frame holds another message, or less or more than the message.
template <class Message>
std::optional<Message> read_message(const Frame& frame) {
    if (frame.type != static_cast<std::uint32_t>(Message::type)) return {};
    Message message;
    PayloadReader reader(frame.payload);
    if (!reader.get(message) || !reader.at_end()) return {};
    return message;
}

} // namespace kumiki::launch
