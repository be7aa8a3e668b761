#include "fabric/wireup/pmi1.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <utility>

#include "fabric/wireup/exit_hook.hpp"
#include "platform/write_all.hpp"

namespace kumiki::fabric {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// No process manager sends a longer line.
constexpr std::size_t longest_line = std::size_t{64} << 10;

/// Returns the value of `name=value` in a line of words.
std::optional<std::string> word(std::string_view line, std::string_view name) {
    while (!line.empty()) {
        const auto end = std::min(line.find(' '), line.size());
        const auto word = line.substr(0, end);
        if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
            return std::string(word.substr(name.size() + 1));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return {};
}

tl::unexpected<Failure> not_understood(std::string_view question, std::string_view answer) {
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("the process manager behind PMI_FD answers \"{}\" to \"{}\", which is not PMI-1 as MPICH's "
                            "mpirun speaks it; start the program by another launcher (docs/joining.md)",
                            answer.substr(0, 80), question.substr(0, 80)));
}

/// Sends requests to the process manager and receives its answers, one line each.
class Conversation {
public:
    Conversation(int descriptor, milliseconds patience) : descriptor_(descriptor), patience_(patience) {}

    /// Returns the answer, which must be of this kind and report success. Waits forever with `slow`.
    Result<std::string> ask(const std::string& question, std::string_view kind, bool slow = false) const {
        if (auto sent = tell(question); !sent) return tl::unexpected(sent.error());
        auto answer = receive_line(slow ? std::nullopt : std::optional(Clock::now() + patience_));
        if (!answer) return answer;
        if (word(*answer, "cmd") != kind || word(*answer, "rc").value_or("0") != "0")
            return not_understood(question, *answer);
        return answer;
    }
    /// Returns the value of this name in the answer.
    Result<std::string> ask_for(const std::string& question, std::string_view kind, std::string_view name) const {
        auto answer = ask(question, kind);
        if (!answer) return answer;
        auto value = word(*answer, name);
        if (!value) return not_understood(question, *answer);
        return std::move(*value);
    }
    /// Identifies the file that the descriptor refers to; returns nothing when it is closed.
    std::optional<ino_t> inode() const {
        struct stat status{};
        if (fstat(descriptor_, &status) != 0) return {};
        return status.st_ino;
    }
    /// Returns after this time, or when the process manager has closed the connection.
    void wait(milliseconds time) const { static_cast<void>(is_readable(Clock::now() + time)); }

    Result<> tell(std::string_view line) const {
        const std::string whole = fmt::format("{}\n", line);
        if (!platform::send_all(descriptor_, whole)) return gone(std::strerror(errno));
        return {};
    }

private:
    /// Reads one character at a time, because the data after the line may be for an MPI library.
    Result<std::string> receive_line(std::optional<Clock::time_point> until) const {
        for (std::string line; line.size() < longest_line;) {
            if (!is_readable(until)) return silent();
            char character = 0;
            const ssize_t received = recv(descriptor_, &character, 1, MSG_DONTWAIT);
            if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (received <= 0) return gone(received == 0 ? "it has closed it" : std::strerror(errno));
            if (character == '\n') return line;
            line += character;
        }
        return gone("it sends a line without an end");
    }
    /// Returns false when nothing has arrived by then.
    bool is_readable(std::optional<Clock::time_point> until) const {
        pollfd event{.fd = descriptor_, .events = POLLIN, .revents = 0};
        for (;;) {
            const auto left = until ? std::max(ceil<milliseconds>(*until - Clock::now()), milliseconds(0)).count() : -1;
            const int ready = poll(&event, 1, static_cast<int>(left));
            if (ready >= 0) return ready > 0;
            if (errno != EINTR) return true; // recv() will report the error
        }
    }
    tl::unexpected<Failure> silent() const {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("the process manager of mpirun or srun behind PMI_FD={} has not answered for {:g} s "
                                "(KUMIKI_TIMEOUT); it is stopped, or PMI_FD was set by hand",
                                descriptor_, std::chrono::duration<double>(patience_).count()));
    }
    tl::unexpected<Failure> gone(std::string_view why) const {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot reach the process manager of mpirun or srun through PMI_FD={}: {}; a program "
                                "that also uses MPI must join before MPI_Finalize, which ends this connection",
                                descriptor_, why));
    }

    int descriptor_;
    milliseconds patience_;
};

class Pmi1 : public KeyValueSpace {
public:
    Pmi1(Conversation manager, int rank, int size) : manager_(manager), rank_(rank), size_(size) {}

    Result<> begin() {
        if (auto greeted = manager_.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"); !greeted)
            return tl::unexpected(greeted.error());
        // The process manager counts the terminating zero, and some process managers also count the name of the space.
        const auto maxes = manager_.ask("cmd=get_maxes", "maxes");
        if (!maxes) return tl::unexpected(maxes.error());
        const auto longest = word(*maxes, "vallen_max").value_or("");
        std::size_t characters = 0;
        std::from_chars(longest.data(), longest.data() + longest.size(), characters);
        if (characters < least_value) return not_understood("cmd=get_maxes", *maxes);
        longest_value_ = std::min(characters, most_value) / 2;
        auto space = manager_.ask_for("cmd=get_my_kvsname", "my_kvsname", "kvsname");
        if (!space) return tl::unexpected(space.error());
        space_ = std::move(*space);
        // Hydra regards a process that ends without this as failed, and ends the job. MPI_Finalize sends it, too, and
        // closes the descriptor; whether the program will call it is not known before the end.
        socket_ = manager_.inode();
        at_process_exit([manager = manager_, socket = socket_](int code) {
            if (manager.inode() != socket) return;
            if (code == 0) static_cast<void>(manager.ask("cmd=finalize", "finalize_ack"));
            else tell_abort(manager, code);
        });
        return {};
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return longest_value_; }

    bool has_written(std::string_view key) override { return get(rank_, key).has_value(); }

    Result<> put(std::string_view key, std::string_view value) override {
        return outcome(
            manager_.ask(fmt::format("cmd=put kvsname={} key={} value={}", space_, key, value), "put_result"));
    }
    Result<> fence() override { return outcome(manager_.ask("cmd=barrier_in", "barrier_out", true)); }
    Result<std::string> get(int, std::string_view key) override {
        return manager_.ask_for(fmt::format("cmd=get kvsname={} key={}", space_, key), "get_result", "value");
    }

    void abort(int code) override {
        if (manager_.inode() == socket_) tell_abort(manager_, code);
    }

private:
    /// A process that fails says with which code: Hydra of MPICH 4.2 otherwise ends now and then with 0 where several
    /// do so at the same time (in a third of the runs on a busy machine, also without this library).
    static void tell_abort(const Conversation& manager, int code) {
        // Hydra ends all ranks at once and loses output that it has not forwarded yet. This wait gives the error
        // message time to get out.
        manager.wait(milliseconds(200));
        static_cast<void>(manager.tell(fmt::format("cmd=abort exitcode={}", code)));
    }
    static Result<> outcome(const Result<std::string>& answer) {
        if (!answer) return tl::unexpected(answer.error());
        return {};
    }

    static constexpr std::size_t least_value = 64, most_value = 4096;
    Conversation manager_;
    int rank_, size_;
    std::size_t longest_value_ = 0;
    std::string space_;
    std::optional<ino_t> socket_; ///< identity of the connection, as long as the descriptor refers to it
};

} // namespace

Result<std::unique_ptr<KeyValueSpace>> open_pmi1(int descriptor, int rank, int size, milliseconds patience) {
    auto space = std::make_unique<Pmi1>(Conversation(descriptor, patience), rank, size);
    if (auto begun = space->begin(); !begun) return tl::unexpected(begun.error());
    return space;
}

} // namespace kumiki::fabric
