#include "launch/controller/remote_host.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

namespace kumiki::launch {
namespace {

/// What is kept of the agent's complaints, and how many lines of them are told.
constexpr std::size_t most_errors = 4096;
constexpr std::size_t most_lines = 3;

/// So many reads take all that was in a pipe when its last writer ended.
constexpr int reads_of_a_pipe = (64 << 10) / most_errors;

constexpr int exit_not_executable = 126, exit_not_found = 127; // of shells, and of commands that run others

} // namespace

RemoteHost::RemoteHost(Share share, std::vector<std::string> agent, std::string program, std::chrono::seconds timeout)
    : share_(std::move(share)), agent_words_(std::move(agent)), program_(std::move(program)), pulse_(timeout) {}

Result<> RemoteHost::start(Events& events, const Origin& origin, Channel::OnFrame on_frame, Channel::OnEnd on_loss) {
    auto words = agent_words_;
    words.insert(words.end(), {share_.host, program_, std::string(keep_option)});
    auto agent = start_agent(std::move(words), origin);
    if (!agent) return tl::unexpected(agent.error());
    events_ = &events;
    agent_ = std::move(*agent);
    channel_.emplace(std::move(agent_->output), std::move(agent_->input), false);
    channel_->attach(events, std::move(on_frame), std::move(on_loss));
    events.add(agent_->errors.get(), EPOLLIN, [this] { hear_errors(); });
    return {};
}

void RemoteHost::start_pulse(Events& events, std::function<void()> on_silence) {
    pulse_.start(events, [this] { channel_->send(Alive{}); }, std::move(on_silence));
}

/// Not until there is nothing more: somebody may write faster than we read.
void RemoteHost::hear_errors(int reads) {
    std::array<char, most_errors> buffer;
    ssize_t bytes = 1;
    while (reads-- > 0 && (bytes = read(agent_->errors.get(), buffer.data(), buffer.size())) > 0) {
        errors_.append(buffer.data(), static_cast<std::size_t>(bytes));
        if (errors_.size() > most_errors) errors_.erase(0, errors_.size() - most_errors);
    }
    if (bytes == 0) events_->remove(agent_->errors.get());
}

bool RemoteHost::agent_has_ended() {
    int status = 0;
    if (agent_ && !agent_end_ && waitpid(agent_->process, &status, WNOHANG) == agent_->process)
        agent_end_ = AgentEnd{true, status};
    return agent_end_.has_value();
}

void RemoteHost::leave() {
    state_ = State::over;
    pulse_.stop();
    if (channel_) channel_->close();
}

void RemoteHost::end(std::chrono::milliseconds patience) {
    leave();
    if (!agent_) return;
    const auto hear_all = [this] { hear_errors(reads_of_a_pipe); };
    if (!agent_end_) agent_end_ = end_agent(agent_->process, patience, hear_all);
    if (!agent_->errors) return;
    hear_all();
    events_->remove(agent_->errors.get());
    agent_->errors.reset();
}

std::vector<std::string> RemoteHost::said() const {
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

std::string RemoteHost::command() const { return fmt::format("{} {}", fmt::join(agent_words_, " "), share_.host); }

std::string RemoteHost::how_the_agent_ended() const {
    const auto lines = said();
    return fmt::format("`{}` {}{}", command(),
                       agent_end_ && agent_end_->status ? end_of_agent(*agent_end_->status) : "closed its output",
                       lines.empty() ? "" : fmt::format(" and said: {}", fmt::join(lines, " / ")));
}

std::vector<std::string> RemoteHost::last_words(bool all) const {
    auto lines = all ? said() : std::vector<std::string>();
    if (agent_end_ && !agent_end_->gone)
        lines.push_back(fmt::format("its agent (process {}) cannot be ended", agent_->process));
    for (std::string& line : lines) line = fmt::format("host {}: {}", share_.host, line);
    return lines;
}

std::string RemoteHost::silence(std::chrono::seconds time) const {
    if (state_ == State::running)
        return fmt::format("nothing was heard of host {} for {} s (KUMIKI_TIMEOUT); the other ranks were ended",
                           share_.host, time.count());
    return fmt::format("host {} did not answer within {} s; `{} true` must work by hand, without a password",
                       share_.host, time.count(), command());
}

std::string RemoteHost::loss() const {
    const auto& reader = channel_->reader();
    const int code =
        agent_end_ && agent_end_->status && WIFEXITED(*agent_end_->status) ? WEXITSTATUS(*agent_end_->status) : 0;
    if (reader.broken())
        return fmt::format("host {}: something else than kumiki-run prints on the standard output of `{}`: \"{}\"{}",
                           share_.host, command(), reader.excerpt(),
                           reader.greeted() ? "; the other ranks were ended"
                                            : "; what login scripts print must be shorter than 64 KiB");
    if (reader.greeted())
        return fmt::format("the connection to host {} was lost: {}; the other ranks were ended", share_.host,
                           how_the_agent_ended());
    if (code == exit_not_found || code == exit_not_executable)
        return fmt::format("cannot run {} on host {}: {}; Kumiki must be installed in the same folder on all hosts",
                           program_, share_.host, how_the_agent_ended());
    return fmt::format("cannot reach host {}: {}; `{} true` must work by hand, without a password", share_.host,
                       how_the_agent_ended(), command());
}

} // namespace kumiki::launch
