#include "fabric/wireup/proxy.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "fabric/wireup/exit_hook.hpp"

namespace kumiki::fabric {
namespace {

// Each request and each answer is one packet: a word, and its arguments behind a blank. Keys have no blanks.
//   the proxy first:   done RANK SIZE LONGEST-VALUE
//   the rank:          put KEY VALUE | get RANK KEY | written KEY | replace-fences | fence | finalize
//   the proxy:         done VALUE | no | failed SENTENCE; after finalize it ends, which closes the socket
constexpr std::string_view done = "done", no = "no", failed = "failed";
constexpr std::size_t longest_packet = std::size_t{128} << 10;

/// Removes the first word from the text and returns it.
std::string_view take_word(std::string_view& text) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

std::size_t take_number(std::string_view& text) {
    const auto word = take_word(text);
    std::size_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

bool send_packet(int socket, std::string_view packet) {
    for (;;) {
        if (send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0) return true;
        if (errno != EINTR) return false;
    }
}

/// Returns nothing when the other side has ended.
std::optional<std::string> receive_packet(int socket) {
    std::string packet(longest_packet, '\0');
    for (;;) {
        const ssize_t received = recv(socket, packet.data(), packet.size(), 0);
        if (received > 0) return packet.substr(0, static_cast<std::size_t>(received));
        if (received == 0 || errno != EINTR) return {};
    }
}

class Proxy : public KeyValueSpace {
public:
    explicit Proxy(int socket) : socket_(socket) {}

    Result<> begin() {
        const auto told = answer();
        if (!told) return tl::unexpected(told.error());
        std::string_view numbers = *told;
        rank_ = static_cast<int>(take_number(numbers));
        size_ = static_cast<int>(take_number(numbers));
        longest_value_ = take_number(numbers);
        // The socket is never closed: when it ends without finalize, the rank has failed.
        at_process_exit([socket = socket_](int code) {
            if (code == 0 && send_packet(socket, "finalize")) receive_packet(socket);
        });
        return {};
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return longest_value_; }

    bool has_written(std::string_view key) override { return ask(fmt::format("written {}", key)).has_value(); }
    Result<> put(std::string_view key, std::string_view value) override {
        return outcome(ask(fmt::format("put {} {}", key, value)));
    }
    Result<> replace_fences() override { return outcome(ask("replace-fences")); }
    Result<> fence() override { return outcome(ask("fence")); }
    Result<std::string> get(int rank, std::string_view key) override {
        return ask(fmt::format("get {} {}", rank, key));
    }

private:
    Result<std::string> ask(std::string_view question) const {
        send_packet(socket_, question); // if this fails, no answer will come either
        return answer();
    }
    Result<std::string> answer() const {
        const auto packet = receive_packet(socket_);
        if (!packet)
            return fail(KUMIKI_ERROR_ENVIRONMENT, "the process that speaks with the launcher for this rank has ended; "
                                                  "the launcher's own message may say why");
        std::string_view text = *packet;
        const auto word = take_word(text);
        if (word != done) return fail(KUMIKI_ERROR_ENVIRONMENT, std::string(text));
        return std::string(text);
    }
    static Result<> outcome(const Result<std::string>& answer) {
        if (!answer) return tl::unexpected(answer.error());
        return {};
    }

    int socket_;
    int rank_ = 0, size_ = 0;
    std::size_t longest_value_ = 0;
};

std::string packet_of(const Result<>& outcome) {
    return outcome ? std::string(done) : fmt::format("{} {}", failed, outcome.error().message);
}

std::string packet_of(const Result<std::string>& value) {
    return value ? fmt::format("{} {}", done, *value) : fmt::format("{} {}", failed, value.error().message);
}

std::string greeting(const Result<std::shared_ptr<KeyValueSpace>>& space) {
    if (!space) return fmt::format("{} {}", failed, space.error().message);
    return fmt::format("{} {} {} {}", done, (*space)->rank(), (*space)->size(), (*space)->longest_value());
}

std::string answer(KeyValueSpace& space, std::string_view question) {
    const auto word = take_word(question);
    if (word == "replace-fences") return packet_of(space.replace_fences());
    if (word == "fence") return packet_of(space.fence());
    if (word == "written") return std::string(space.has_written(question) ? done : no);
    if (word == "get") {
        const auto rank = static_cast<int>(take_number(question));
        return packet_of(space.get(rank, question));
    }
    const auto key = take_word(question); // put
    return packet_of(space.put(key, question));
}

/// Returns false when the rank has ended; a child process of the rank may then still hold the other end of the socket.
bool wait_for_question(int socket, int process) {
    std::array<pollfd, 2> events{
        {{.fd = socket, .events = POLLIN, .revents = 0}, {.fd = process, .events = POLLIN, .revents = 0}}};
    while (poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {}
    return events[0].revents != 0;
}

/// Starts the proxy. The started program exits at once, so that the proxy becomes a child of init, because a rank may
/// wait for all its child processes.
Result<> start(const std::filesystem::path& program, int socket) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(
        &actions, socket, socket); // so that only this program inherits it, and no other that the rank starts
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // Signals that the launcher sends to the rank's process group are meant for the rank only.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::string path = program, descriptor = std::to_string(socket), rank = std::to_string(getpid());
    const std::array<char*, 4> arguments{path.data(), descriptor.data(), rank.data(), nullptr};
    pid_t process = 0;
    const int error = posix_spawn(&process, path.c_str(), &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot start {}: {}", path, std::strerror(error)));
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {}
    return {};
}

} // namespace

Result<std::unique_ptr<KeyValueSpace>> open_proxy(const std::filesystem::path& program) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot make a socket: {}", std::strerror(errno)));
    const auto started = start(program, ends[1]);
    close(ends[1]);
    if (!started) {
        close(ends[0]);
        return tl::unexpected(started.error());
    }
    return adopt_proxy(ends[0]);
}

Result<std::unique_ptr<KeyValueSpace>> adopt_proxy(int socket) {
    auto space = std::make_unique<Proxy>(socket);
    if (auto begun = space->begin(); !begun) return tl::unexpected(begun.error());
    return space;
}

bool serve(const Result<std::shared_ptr<KeyValueSpace>>& space, int socket, pid_t rank) {
    // Too old a kernel returns a negative number, which poll ignores.
    const auto process = static_cast<int>(syscall(SYS_pidfd_open, rank, 0));
    send_packet(socket, greeting(space));
    while (space && wait_for_question(socket, process)) {
        const auto question = receive_packet(socket);
        if (!question) return false;
        if (*question == "finalize") return true;
        send_packet(socket, answer(**space, *question));
    }
    return false;
}

} // namespace kumiki::fabric
