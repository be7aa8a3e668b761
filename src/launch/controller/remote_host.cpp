#include "launch/controller/remote_host.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

namespace kumiki::launch {
namespace {

/// How many bytes of a remote shell's error output are kept, and how many lines of it are printed.
constexpr std::size_t most_errors = 4096;
constexpr std::size_t most_lines = 3;

/// So many reads return everything that was in a pipe when its last writer ended.
constexpr int reads_of_a_pipe = (64 << 10) / most_errors;

constexpr int exit_not_executable = 126, exit_not_found = 127; // of shells, and of commands that run others

} // namespace

RemoteHost::RemoteHost(Share share, std::vector<std::string> remote_shell, std::string program,
                       std::chrono::seconds timeout)
    : share_(std::move(share)),
      shell_words_(std::move(remote_shell)),
      program_(std::move(program)),
      heartbeat_(timeout) {}

Result<> RemoteHost::start(Events& events, const InheritedState& inherited, Channel::OnFrame on_frame,
                           Channel::OnEnd on_loss) {
    auto words = shell_words_;
    words.insert(words.end(), {share_.host, program_, std::string(host_daemon_option)});
    auto shell = start_remote_shell(std::move(words), inherited);
    if (!shell) return tl::unexpected(shell.error());
    events_ = &events;
    shell_ = std::move(*shell);
    channel_.emplace(std::move(shell_->output), std::move(shell_->input), false);
    channel_->attach(events, std::move(on_frame), std::move(on_loss));
    events.add(shell_->errors.get(), EPOLLIN, [this] { read_errors(); });
    return {};
}

void RemoteHost::start_heartbeat(Events& events, std::function<void()> on_silence) {
    heartbeat_.start(events, [this] { channel_->send(Alive{}); }, std::move(on_silence));
}

/// Reads only a limited number of times, because a process may write faster than this one reads.
void RemoteHost::read_errors(int reads) {
    std::array<char, most_errors> buffer;
    ssize_t bytes = 1;
    while (reads-- > 0 && (bytes = read(shell_->errors.get(), buffer.data(), buffer.size())) > 0) {
        errors_.append(buffer.data(), static_cast<std::size_t>(bytes));
        if (errors_.size() > most_errors) errors_.erase(0, errors_.size() - most_errors);
    }
    if (bytes == 0) events_->remove(shell_->errors.get());
}

bool RemoteHost::shell_has_ended() {
    int status = 0;
    if (shell_ && !shell_end_ && waitpid(shell_->process, &status, WNOHANG) == shell_->process)
        shell_end_ = RemoteShellEnd{true, status};
    return shell_end_.has_value();
}

void RemoteHost::leave() {
    state_ = State::over;
    heartbeat_.stop();
    if (channel_) channel_->close();
}

void RemoteHost::end(std::chrono::milliseconds patience) {
    leave();
    if (!shell_) return;
    const auto read_all = [this] { read_errors(reads_of_a_pipe); };
    if (!shell_end_) shell_end_ = end_remote_shell(shell_->process, patience, read_all);
    if (!shell_->errors) return;
    read_all();
    events_->remove(shell_->errors.get());
    shell_->errors.reset();
}

std::vector<std::string> RemoteHost::error_lines() const {
    constexpr std::string_view own = "kumiki-run: ";
    std::vector<std::string> lines;
    std::string_view rest(errors_);
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
        auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.starts_with(own)) line.remove_prefix(own.size());
        if (!line.empty()) lines.emplace_back(line);
    }
    if (lines.size() > most_lines) lines.erase(lines.begin(), lines.end() - most_lines);
    return lines;
}

std::string RemoteHost::command() const { return fmt::format("{} {}", fmt::join(shell_words_, " "), share_.host); }

std::string RemoteHost::how_the_shell_ended() const {
    const auto lines = error_lines();
    return fmt::format("`{}` {}{}", command(),
                       shell_end_ && shell_end_->status ? how_it_ended(*shell_end_->status) : "closed its output",
                       lines.empty() ? "" : fmt::format(" and said: {}", fmt::join(lines, " / ")));
}

std::vector<std::string> RemoteHost::final_remarks(bool all) const {
    auto lines = all ? error_lines() : std::vector<std::string>();
    if (shell_end_ && !shell_end_->gone)
        lines.push_back(fmt::format("its remote shell (process {}) cannot be ended", shell_->process));
    for (std::string& line : lines) line = fmt::format("host {}: {}", share_.host, line);
    return lines;
}

std::string RemoteHost::describe_silence(std::chrono::seconds time) const {
    if (state_ == State::running)
        return fmt::format("nothing was heard of host {} for {} s (KUMIKI_TIMEOUT); the other ranks were ended",
                           share_.host, time.count());
    return fmt::format("host {} did not answer within {} s; `{} true` must work by hand, without a password",
                       share_.host, time.count(), command());
}

std::string RemoteHost::describe_loss() const {
    const auto& reader = channel_->reader();
    const int code =
        shell_end_ && shell_end_->status && WIFEXITED(*shell_end_->status) ? WEXITSTATUS(*shell_end_->status) : 0;
    if (reader.broken())
        return fmt::format("host {}: something other than kumiki-run prints on the standard output of `{}`: \"{}\"{}",
                           share_.host, command(), reader.excerpt(),
                           reader.greeted() ? "; the other ranks were ended"
                                            : "; what login scripts print must be shorter than 64 KiB");
    if (reader.greeted())
        return fmt::format("the connection to host {} was lost: {}; the other ranks were ended", share_.host,
                           how_the_shell_ended());
    if (code == exit_not_found || code == exit_not_executable)
        return fmt::format("cannot run {} on host {}: {}; Kumiki must be installed in the same folder on all hosts",
                           program_, share_.host, how_the_shell_ended());
    return fmt::format("cannot reach host {}: {}; `{} true` must work by hand, without a password", share_.host,
                       how_the_shell_ended(), command());
}

} // namespace kumiki::launch
