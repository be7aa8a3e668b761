#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/command/hosts.hpp"
#include "launch/controller/remote_shell.hpp"
#include "launch/protocol/channel.hpp"
#include "launch/system/timer.hpp"

namespace kumiki::launch {

/// A host from the controller's point of view: the remote shell that reaches it, the channel to its host daemon, and
/// its state.
class RemoteHost {
public:
    enum class State {
        starting, ///< the remote shell runs, but the host daemon has sent nothing yet
        greeted,  ///< the host daemon has been sent the instructions
        ready,    ///< the host waits for the others
        running,  ///< the host has ranks
        over,     ///< nothing of the job is left there, as far as this can be known
    };

    /// `remote_shell` are the words of the command, without the host's name; `program` is the path of kumiki-run on the
    /// host.
    RemoteHost(Share share, std::vector<std::string> remote_shell, std::string program, std::chrono::seconds timeout);
    RemoteHost(const RemoteHost&) = delete;
    RemoteHost& operator=(const RemoteHost&) = delete;
    ~RemoteHost() { end(std::chrono::milliseconds(0)); }

    /// Starts the remote shell. `on_frame` is called with the frames of the host daemon, and `on_loss` when the channel
    /// has ended.
    Result<> start(Events& events, const InheritedState& inherited, Channel::OnFrame on_frame, Channel::OnEnd on_loss);
    void start_heartbeat(Events& events, std::function<void()> on_silence);
    void heard() { heartbeat_.heard(); }

    const Share& share() const { return share_; }
    Channel& channel() { return *channel_; }
    State state() const { return state_; }
    void enter(State state) { state_ = state; }

    /// Whether the remote shell has ended by itself.
    bool shell_has_ended();
    /// Whether the host daemon has reported that it is done.
    void leave();
    /// Closes the channel, waits for the remote shell to end, and kills it if it takes longer than `patience`.
    void end(std::chrono::milliseconds patience);

    /// The sentence about a host that has not answered, or has been silent, for this time.
    std::string describe_silence(std::chrono::seconds time) const;
    /// The sentence about a host whose channel has ended too early; end() must have been called.
    std::string describe_loss() const;
    /// What else has to be reported about the remote shell after end(): that it does not die, and, with `all`, its
    /// output on standard error.
    std::vector<std::string> final_remarks(bool all) const;

private:
    void read_errors(int reads = 1);
    std::vector<std::string> error_lines() const;
    std::string command() const;
    std::string how_the_shell_ended() const;

    const Share share_;
    const std::vector<std::string> shell_words_;
    const std::string program_;
    State state_ = State::starting;
    Events* events_ = nullptr;
    std::optional<RemoteShell> shell_;
    std::optional<RemoteShellEnd> shell_end_;
    std::optional<Channel> channel_;
    std::string errors_;
    Heartbeat heartbeat_;
};

} // namespace kumiki::launch
