#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "launch/command/outcome.hpp"
#include "launch/protocol/frame.hpp"

namespace kumiki::launch {

/// The messages between the controller and the host daemons of several hosts. A number is never reused for something
/// else.
enum class MessageType : std::uint32_t {
    hello = 1,
    order = 2,
    ready = 3,
    start = 4,
    signal = 5,
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
    mark = 16,
};

/// The hidden option by which the controller starts this program on each host.
inline constexpr std::string_view host_daemon_option = "--host-daemon";

/// How long hosts may take to be ready; after that the controller gives them up, and they give up waiting for the
/// controller.
inline constexpr std::chrono::seconds start_limit(30);

/// At most this many bytes of a stream are under way or wait to be written: a reader that has stopped reading must
/// neither hold back other messages nor fill the memory of the launcher.
inline constexpr std::size_t stream_window = std::size_t{1} << 20;

/// host daemon -> controller: the first message.
struct Hello {
    static constexpr auto type = MessageType::hello;
    std::string version; ///< of this kumiki-run; both sides must have the same
    static auto fields(auto& self) { return std::tie(self.version); }
};

/// controller -> host daemon: the instructions for a run.
struct Order {
    static constexpr auto type = MessageType::order;
    Share share;
    std::vector<std::string> program;
    std::string folder;
    Variables environment; ///< for the ranks, in addition to the host's own variables
    Variables settings;    ///< set by options
    bool verbose = false;
    bool openmp = false; ///< the program runs on Kumiki's OpenMP runtime
    static auto fields(auto& self) {
        return std::tie(self.share, self.program, self.folder, self.environment, self.settings, self.verbose,
                        self.openmp);
    }
};

/// host daemon -> controller: what the controller must know about every host before any of them starts its ranks.
struct Ready {
    static constexpr auto type = MessageType::ready;
    std::uint64_t arena_bytes = 0; ///< the size that this host would choose
    std::string cores;             ///< the same text for hosts that share one machine and its cores
    std::string addresses;         ///< of this host in the network (platform::addresses_of)
    int budget = 1;                ///< cores that the job can keep busy here
    static auto fields(auto& self) { return std::tie(self.arena_bytes, self.cores, self.addresses, self.budget); }
};

/// controller -> host daemon: the ranks may start.
struct Start {
    static constexpr auto type = MessageType::start;
    std::uint64_t arena_bytes = 0; ///< the same on all hosts
    int ranks_before = 0;          ///< how many ranks of other hosts on the same cores come before those of this host
    std::vector<RankRequest> on_cores;    ///< the ranks of all hosts on the same cores, with numbers of threads
    std::vector<int> threads;             ///< of every rank of the job
    std::vector<std::string> other_hosts; ///< the addresses of each
    static auto fields(auto& self) {
        return std::tie(self.arena_bytes, self.ranks_before, self.on_cores, self.threads, self.other_hosts);
    }
};

/// controller -> host daemon: a signal for the ranks.
struct ForwardedSignal {
    static constexpr auto type = MessageType::signal;
    int signal = 0;
    static auto fields(auto& self) { return std::tie(self.signal); }
};

/// controller -> host daemon: the job has failed elsewhere.
struct End {
    static constexpr auto type = MessageType::end;
    static auto fields(auto&) { return std::tuple<>(); }
};

/// Both ways: a piece of a standard stream, which the number of its descriptor identifies: 0 to rank 0, 1 and 2 from a
/// rank. An empty piece is the end of the stream.
struct Bytes {
    static constexpr auto type = MessageType::bytes;
    int rank = 0;
    int stream = 0;
    std::string text;
    static auto fields(auto& self) { return std::tie(self.rank, self.stream, self.text); }
};

/// Back to the sender of Bytes: this many have been written, and as many more may be sent.
struct Written {
    static constexpr auto type = MessageType::written;
    int stream = 0;
    std::uint64_t bytes = 0;
    static auto fields(auto& self) { return std::tie(self.stream, self.bytes); }
};

/// Back to the sender of Bytes: the stream has no reader any more.
struct Closed {
    static constexpr auto type = MessageType::closed;
    int stream = 0;
    static auto fields(auto& self) { return std::tie(self.stream); }
};

/// host daemon -> controller: a rank asks for the place of what it has printed (OutputRelay); back: it has its place.
struct Mark {
    static constexpr auto type = MessageType::mark;
    int rank = 0;
    static auto fields(auto& self) { return std::tie(self.rank); }
};

/// host daemon -> controller -> all host daemons: a rank's card for the other ranks.
struct Card {
    static constexpr auto type = MessageType::card;
    int rank = 0;
    std::string text;
    static auto fields(auto& self) { return std::tie(self.rank, self.text); }
};

/// host daemon -> controller: why the job ends early, as soon as this is known.
struct VerdictReached {
    static constexpr auto type = MessageType::verdict;
    Verdict verdict;
    static auto fields(auto& self) { return std::tie(self.verdict); }
};

/// host daemon -> controller: a sentence for the user.
struct Remark {
    static constexpr auto type = MessageType::remark;
    std::string text;
    static auto fields(auto& self) { return std::tie(self.text); }
};

/// host daemon -> controller: the last message; nothing of the job is left on this host.
struct Done {
    static constexpr auto type = MessageType::done;
    static auto fields(auto&) { return std::tuple<>(); }
};

/// host daemon -> controller: how many ranks of its host are stopped; controller -> host daemon: how many of the whole
/// job.
struct Stopped {
    static constexpr auto type = MessageType::stopped;
    int ranks = 0;
    static auto fields(auto& self) { return std::tie(self.ranks); }
};

/// Both ways, several times in a timeout: a heartbeat.
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

/// Returns nothing if the frame contains another message, or if its length is wrong.
template <class Message>
std::optional<Message> read_message(const Frame& frame) {
    if (frame.type != static_cast<std::uint32_t>(Message::type)) return {};
    Message message;
    PayloadReader reader(frame.payload);
    if (!reader.get(message) || !reader.at_end()) return {};
    return message;
}

} // namespace kumiki::launch
